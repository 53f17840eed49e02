import type { Story } from './story.ts'

/** Returns the configuration for a scheduler; undefined for its defaults. */
export function configurationOf(
  { config }: Story,
  extenderUrl: string,
): Readonly<Record<string, unknown>> | undefined {
  if (config === undefined) return undefined
  const text = JSON.stringify(config).replaceAll('${extender}', extenderUrl)
  // The text was made from an object, so it parses as one.
  const fields = JSON.parse(text) as Readonly<Record<string, unknown>>
  return {
    apiVersion: 'kubescheduler.config.k8s.io/v1',
    kind: 'KubeSchedulerConfiguration',
    ...fields,
  }
}
