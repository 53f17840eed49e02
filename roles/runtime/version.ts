import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The program's own version: package.json's, or what the bundler put in its place. */
export const version: string = readVersion()

/** The version of Kubernetes whose API is served, as clients read it. */
export const servedVersion = `v1.36.3+skerry-${version}`

/** The name of the agent's image in `skerry build --agent-image` and in manifests. */
export const agentImageReference = `localhost/skerry-agent:${version}`

declare const SKERRY_VERSION: string | undefined

function readVersion(): string {
  if (typeof SKERRY_VERSION === 'string') return SKERRY_VERSION
  const text = readFileSync(join(import.meta.dirname, '../..', 'package.json'), 'utf8')
  const parsed: unknown = JSON.parse(text)
  if (typeof parsed === 'object' && parsed !== null && 'version' in parsed)
    return String(parsed.version)
  throw new Error('Cannot read version: package.json has none')
}
