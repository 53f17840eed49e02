import type { Story } from './story.ts'

/** The document that a scheduler is started with; undefined: none, so that its defaults count. */
export function configurationOf(
  { config }: Story,
  extenderUrl: string,
): Readonly<Record<string, unknown>> | undefined {
  if (config === undefined) return undefined
  const text = JSON.stringify(config).replaceAll('${extender}', extenderUrl)
  // What was an object stays one.
  const fields = JSON.parse(text) as Readonly<Record<string, unknown>>
  return {
    apiVersion: 'kubescheduler.config.k8s.io/v1',
    kind: 'KubeSchedulerConfiguration',
    ...fields,
  }
}
