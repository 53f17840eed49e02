export interface ImageReference {
  /** The registry host with its port, e.g. docker.io. */
  registry: string
  /** The repository, e.g. library/busybox. */
  repository: string
  /** Omitted only if there is a digest. */
  tag?: string
  digest?: string
}

const dockerHub = 'docker.io'

/** Returns undefined for text that does not name an image (InvalidImageName). Short names mean Docker Hub. */
export function parseImageReference(text: string): ImageReference | undefined {
  const [withoutDigest = '', digest, ...rest] = text.split('@')
  if (rest.length > 0) return undefined
  if (digest !== undefined && !/^[a-z0-9+._-]+:[0-9a-f]{32,}$/.test(digest)) return undefined
  const match = /^(.*?)(?::([\w][\w.-]{0,127}))?$/.exec(withoutDigest)
  let [, path = '', tag] = match ?? []
  // A colon before a slash belongs to the host's port.
  if (tag === undefined && /:[^/]*$/.test(path)) return undefined
  const [first = '', ...others] = path.split('/')
  const isHost = others.length > 0 && (/[.:]/.test(first) || first === 'localhost')
  const registry = isHost ? first : dockerHub
  path = isHost ? others.join('/') : path
  if (!/^[a-z0-9]+([._/-]+[a-z0-9]+)*$/.test(path) || /\/\//.test(path)) return undefined
  const repository = registry === dockerHub && !path.includes('/') ? `library/${path}` : path
  if (tag === undefined && digest === undefined) tag = 'latest'
  return { registry, repository, ...(tag ? { tag } : {}), ...(digest ? { digest } : {}) }
}

/** Adds `latest` if the user gave neither tag nor digest; otherwise keeps the text. */
export function withDefaultTag(text: string): string {
  const reference = parseImageReference(text)
  const hasTag = /:[^/@]+($|@)/.test(text) || text.includes('@')
  return reference && !hasTag ? `${text}:latest` : text
}
