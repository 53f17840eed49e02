import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { ImageOptions } from '@skerry/kubelet'

export interface TestRegistryOptions {
  image: Omit<ImageOptions, 'reference'>
  username: string
  password: string
  /**
   * How it authenticates clients: by password at once, or by a token that its own `/token` gives for the
   * password. A mirror asks nobody.
   */
  challenge: 'basic' | 'bearer' | 'none'
  /** The address to listen on. Default: 127.0.0.1. */
  address?: string
}

export interface TestRegistry extends AsyncDisposable {
  /** The port on its address. */
  port: number
}

/**
 * Serves the pull half of the OCI distribution specification 1.1, over plain HTTP. One image answers for
 * every repository and tag; anonymous clients get nothing, unless it is a mirror.
 */
export async function startTestRegistry(options: TestRegistryOptions): Promise<TestRegistry> {
  const contents = await contentsOf(options.image)
  const gate = new Gate(options)
  const server = createServer((request, response) => answer({ contents, gate, request, response }))
  server.listen(0, options.address ?? '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('Cannot listen: no port')
  return {
    port: address.port,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

interface Exchange {
  contents: Contents
  gate: Gate
  request: IncomingMessage
  response: ServerResponse
}

function answer({ contents, gate, request, response }: Exchange): void {
  const { pathname } = new URL(request.url ?? '/', 'http://registry')
  // Clients post here first for OAuth 2; a 404 sends them back to GET, which every registry has.
  if (request.method !== 'GET' && request.method !== 'HEAD') return refuse(response, 404, 'UNKNOWN')
  if (pathname === '/token') return gate.giveToken(request, response)
  if (!gate.admits(request)) {
    response.setHeader('WWW-Authenticate', gate.challenge(request))
    return refuse(response, 401, 'UNAUTHORIZED')
  }
  if (pathname === '/v2/') return sendJson(response, 200, {})
  const found = contents.find(pathname)
  if (!found) return refuse(response, 404, 'NAME_UNKNOWN')
  response.writeHead(200, {
    'Content-Type': found.mediaType,
    'Content-Length': found.bytes.length,
    'Docker-Content-Digest': found.digest,
  })
  response.end(request.method === 'HEAD' ? undefined : found.bytes)
}

interface Content {
  mediaType: string
  bytes: Uint8Array
  digest: string
}

async function contentsOf(image: TestRegistryOptions['image']): Promise<Contents> {
  const { contentDigest, imageDocuments, imageManifestType } = await import('@skerry/kubelet')
  const content = (mediaType: string, bytes: Uint8Array): Content => {
    return { mediaType, bytes, digest: contentDigest(bytes) }
  }
  const { config, manifest } = imageDocuments(image)
  const blobs = [config, ...image.layers.map((layer) => layer.tarGz)]
  return new Contents(
    content(imageManifestType, manifest),
    blobs.map((bytes) => content('application/octet-stream', bytes)),
  )
}

/** The contents that can be fetched, by path below a repository. */
class Contents {
  readonly #manifest: Content
  readonly #byDigest: ReadonlyMap<string, Content>

  constructor(manifest: Content, blobs: readonly Content[]) {
    this.#manifest = manifest
    this.#byDigest = new Map(blobs.map((blob) => [blob.digest, blob]))
  }

  find(pathname: string): Content | undefined {
    const [, kind, name = ''] = /^\/v2\/.+\/(manifests|blobs)\/([^/]+)$/.exec(pathname) ?? []
    if (kind === 'blobs') return this.#byDigest.get(name)
    if (kind !== 'manifests') return undefined
    const isOther = name.includes(':') && name !== this.#manifest.digest
    return isOther ? undefined : this.#manifest
  }
}

/** Decides which clients may pull. */
class Gate {
  readonly #basic: string
  readonly #token: string
  readonly #kind: TestRegistryOptions['challenge']

  constructor({ username, password, challenge }: TestRegistryOptions) {
    const userAndPassword = `${username}:${password}`
    this.#basic = `Basic ${Buffer.from(userAndPassword).toString('base64')}`
    this.#token = createHash('sha256').update(userAndPassword).digest('hex')
    this.#kind = challenge
  }

  admits({ headers }: IncomingMessage): boolean {
    if (this.#kind === 'none') return true
    const expected = this.#kind === 'basic' ? this.#basic : `Bearer ${this.#token}`
    return headers.authorization === expected
  }

  challenge({ headers, url = '' }: IncomingMessage): string {
    if (this.#kind === 'basic') return 'Basic realm="test-registry"'
    const repository = /^\/v2\/(.+)\/(?:manifests|blobs)\//.exec(url)?.[1]
    const scope = repository === undefined ? '' : `,scope="repository:${repository}:pull"`
    return `Bearer realm="http://${headers.host}/token",service="test-registry"${scope}`
  }

  giveToken({ headers }: IncomingMessage, response: ServerResponse): void {
    const isKnown = this.#kind === 'bearer' && headers.authorization === this.#basic
    if (!isKnown) return refuse(response, 401, 'UNAUTHORIZED')
    sendJson(response, 200, { token: this.#token, expires_in: 300 })
  }
}

function refuse(response: ServerResponse, status: number, code: string): void {
  sendJson(response, status, { errors: [{ code, message: `refused with ${status}` }] })
}

function sendJson(response: ServerResponse, status: number, value: object): void {
  response.writeHead(status, { 'Content-Type': 'application/json' })
  response.end(JSON.stringify(value))
}
