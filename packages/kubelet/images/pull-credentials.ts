import type { Secret } from '@skerry/api'
import type { RegistryAuth } from '../cri/container-runtime.ts'
import { parseImageReference } from './image-reference.ts'

interface DockerAuth {
  username?: string
  password?: string
  auth?: string
  identitytoken?: string
  registrytoken?: string
}

/**
 * Returns the credentials to try for an image, the most specific registry path first. A Secret that is not a
 * valid docker config is skipped: the failed pull then reports what is missing.
 */
export function pullCredentials(image: string, secrets: readonly Secret[]): RegistryAuth[] {
  const reference = parseImageReference(image)
  if (!reference) return []
  const target = `${reference.registry}/${reference.repository}`
  return secrets
    .flatMap(authsOf)
    .filter(([pattern]) => matchesTarget(pattern, target))
    .toSorted(([one], [other]) => other.length - one.length)
    .map(([, auth]) => toRegistryAuth(auth))
}

function authsOf(secret: Secret): [string, DockerAuth][] {
  const modern = decode(secret.data?.['.dockerconfigjson'])
  const legacy = decode(secret.data?.['.dockercfg'])
  const auths = modern && 'auths' in modern ? modern.auths : legacy
  if (typeof auths !== 'object' || auths === null) return []
  return Object.entries(auths).flatMap(([host, auth]: [string, unknown]) =>
    typeof auth === 'object' && auth !== null ? [[hostPattern(host), auth] as const] : [],
  ) as [string, DockerAuth][] // objects whose known fields are all optional
}

function decode(base64: string | undefined): object | undefined {
  if (base64 === undefined) return undefined
  try {
    const value: unknown = JSON.parse(Buffer.from(base64, 'base64').toString('utf8'))
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}

/** Reduces `https://index.docker.io/v1/` and the like to the host: scheme and version are historical. */
function hostPattern(host: string): string {
  const bare = host.replace(/^https?:\/\//, '').replace(/\/(v1|v2)?\/?$/, '')
  return bare === 'index.docker.io' || bare === 'registry-1.docker.io' ? 'docker.io' : bare
}

/** Matches a target: globs match within one label of the host; a path matches as a prefix. */
function matchesTarget(pattern: string, target: string): boolean {
  const [patternHost = '', ...patternPath] = pattern.split('/')
  const [host = '', ...path] = target.split('/')
  const patternLabels = patternHost.split('.')
  const labels = host.split('.')
  if (patternLabels.length !== labels.length) return false
  const isHost = patternLabels.every((label, index) => globMatches(label, labels[index] ?? ''))
  return isHost && path.join('/').startsWith(patternPath.join('/'))
}

function globMatches(glob: string, text: string): boolean {
  const source = glob.replaceAll(/[.+^${}()|[\]\\]/g, String.raw`\$&`).replaceAll('*', '.*')
  return new RegExp(`^${source}$`).test(text)
}

/**
 * Leaves out the server's address: containerd compares it with the registry's host as a URL with a scheme,
 * and drops the credentials, or the pull, for a bare host or a glob.
 */
function toRegistryAuth(auth: DockerAuth): RegistryAuth {
  const [username, ...password] = auth.auth
    ? Buffer.from(auth.auth, 'base64').toString('utf8').split(':')
    : []
  return {
    username: auth.username ?? username ?? '',
    password: auth.password ?? password.join(':'),
    ...(auth.identitytoken ? { identityToken: auth.identitytoken } : {}),
    ...(auth.registrytoken ? { registryToken: auth.registrytoken } : {}),
  }
}
