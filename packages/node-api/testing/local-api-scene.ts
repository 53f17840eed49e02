import { mkdtemp, rm } from 'node:fs/promises'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock, systemRandom, type Logger } from '@skerry/base'
import { createHttpsTransport, type CredentialSource, type HttpsTransport } from '@skerry/client'
import { generateKeyPair, signCertificate } from '@skerry/pki'
import {
  callApi,
  startTestApiServer,
  until,
  type ApiCall,
  type ApiReply,
  type TestApiServer,
} from '@skerry/testing'
import { createLocalApi, type LocalApi } from '../local-api.ts'
import type { KeptScope } from '../copies/kept-scope.ts'

export interface SceneOptions {
  readonly log: Logger
  readonly kept?: readonly KeptScope[]
  /** If false, the test starts the node. Default: true. */
  readonly isStarted?: boolean
  /** The accounts of the node's pods. */
  readonly accounts?: readonly { namespace: string; name: string }[]
}

/** A site, a link, and a node with its own API. */
export class LocalApiScene implements AsyncDisposable {
  readonly site: TestApiServer
  readonly link: TestLink
  readonly directory: string
  /** The pods on the node, by `namespace/name/uid`. */
  readonly pods = new Set<string>()
  readonly #options: SceneOptions
  readonly #stack: AsyncDisposableStack
  #node: { api: LocalApi; stop: () => Promise<void> } | undefined

  private constructor(
    parts: { site: TestApiServer; link: TestLink; directory: string },
    options: SceneOptions,
    stack: AsyncDisposableStack,
  ) {
    this.site = parts.site
    this.link = parts.link
    this.directory = parts.directory
    this.#options = options
    this.#stack = stack
  }

  static async start(options: SceneOptions): Promise<LocalApiScene> {
    await using stack = new AsyncDisposableStack()
    const namespaces = ['default', 'kube-system', 'shop']
    const site = stack.use(await startTestApiServer({ withAccess: true, namespaces }))
    const link = stack.use(new TestLink(Number(new URL(site.url).port)))
    await link.restore()
    const directory = await mkdtemp(join(tmpdir(), 'skerry-node-api-'))
    stack.defer(() => rm(directory, { recursive: true, force: true }))
    const scene = new LocalApiScene({ site, link, directory }, options, stack.move())
    try {
      if (options.isStarted !== false) await scene.startNode()
      return scene
    } catch (error) {
      await scene[Symbol.asyncDispose]()
      throw error
    }
  }

  async startNode(): Promise<void> {
    const { site, link } = this
    const stop = new AbortController()
    const nodeUser = { commonName: 'system:node:n1', organizations: ['system:nodes'] }
    const client = await this.#certificate(nodeUser, 'clientAuth')
    const serving = await this.#certificate(nodeUser, 'serverAuth')
    const asNode: CredentialSource = () =>
      Promise.resolve({ certificate: client.cert, key: client.key })
    const { ca } = site.credentials
    const open = (credentials = asNode): HttpsTransport =>
      createHttpsTransport(
        { server: link.url, certificateAuthority: ca, credentials },
        { clock: systemClock },
      )
    const api = await createLocalApi(
      {
        address: '127.0.0.1',
        port: 0,
        tls: { ...serving, clientCa: ca },
        directory: this.directory,
        kept: this.#options.kept ?? [],
        userAgent: 'skerry-node/test',
      },
      {
        controlPlane: { server: () => link.url, authorityPem: ca, open },
        accounts: () => this.#options.accounts ?? [],
        hasPod: ({ namespace, name, uid }) => this.pods.has(`${namespace}/${name}/${uid}`),
        clock: systemClock,
        random: systemRandom,
        log: this.#options.log,
      },
      stop.signal,
    )
    const running = api.run(stop.signal).catch(() => undefined)
    this.#node = {
      api,
      async stop() {
        stop.abort(new Error('the node stops'))
        await running
        await api[Symbol.asyncDispose]()
      },
    }
  }

  async stopNode(): Promise<void> {
    const node = this.#node
    this.#node = undefined
    await node?.stop()
  }

  get url(): string {
    return `https://127.0.0.1:${this.#node?.api.port}`
  }

  /** Creates an account in the namespace shop with these rights there, and returns a token of it. */
  async account(name: string, rules: readonly object[]): Promise<string> {
    const base = '/apis/rbac.authorization.k8s.io/v1/namespaces/shop'
    const accounts = '/api/v1/namespaces/shop/serviceaccounts'
    const metadata = { name, namespace: 'shop' }
    await this.admin({ method: 'POST', path: accounts, body: { metadata } })
    await this.admin({ method: 'POST', path: `${base}/roles`, body: { metadata, rules } })
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name }
    const subjects = [{ kind: 'ServiceAccount', name, namespace: 'shop' }]
    const binding = { metadata, roleRef, subjects }
    await this.admin({ method: 'POST', path: `${base}/rolebindings`, body: binding })
    return this.#token(name, {})
  }

  /** Creates a pod of an account. Returns a token that is bound to it, and its `namespace/name/uid`. */
  async podWith(account: string): Promise<{ token: string; pod: string }> {
    const metadata = { name: account, namespace: 'shop' }
    const spec = { serviceAccountName: account, containers: [{ name: 'app', image: 'app:1' }] }
    const path = '/api/v1/namespaces/shop/pods'
    const made = await this.admin({ method: 'POST', path, body: { metadata, spec } })
    const { uid } = made.body.metadata
    const boundObjectRef = { apiVersion: 'v1', kind: 'Pod', name: account, uid }
    return { token: await this.#token(account, { boundObjectRef }), pod: `shop/${account}/${uid}` }
  }

  /** Calls the site as its administrator. */
  async admin(call: ApiCall): Promise<ApiReply> {
    const reply = await callApi(this.site.transport, call)
    if (reply.status >= 300) throw new Error(`${call.path}: ${reply.text}`)
    return reply
  }

  /** Opens a transport to the node's API with a token. */
  open(token: string): HttpsTransport {
    const credentials =
      token === '' ? {} : { credentials: () => Promise.resolve({ bearerToken: token }) }
    const { ca } = this.site.credentials
    return createHttpsTransport(
      { server: this.url, certificateAuthority: ca, ...credentials },
      { clock: systemClock },
    )
  }

  async ask(token: string, call: ApiCall): Promise<ApiReply> {
    using transport = this.open(token)
    return callApi(transport, call)
  }

  /** Cuts the link, and waits until the node knows it. */
  async cut(): Promise<void> {
    await this.link.cut()
    await until(async () => (await this.ask('', { path: '/readyz' })).status === 503)
  }

  async restore(): Promise<void> {
    await this.link.restore()
    await until(async () => (await this.ask('', { path: '/readyz' })).status === 200)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stopNode()
    await this.#stack.disposeAsync()
  }

  async #token(account: string, spec: object): Promise<string> {
    const path = `/api/v1/namespaces/shop/serviceaccounts/${account}/token`
    const { body } = await this.admin({ method: 'POST', path, body: { spec } })
    return body.status.token
  }

  async #certificate(
    subject: { commonName: string; organizations: string[] },
    usage: 'clientAuth' | 'serverAuth',
  ): Promise<{ cert: string; key: string }> {
    const keys = await generateKeyPair()
    const cert = await signCertificate(this.site.authority, {
      subject,
      publicKeyPem: keys.publicKeyPem,
      notBeforeMs: systemClock.now() - 3_600_000,
      notAfterMs: systemClock.now() + 3_600_000,
      keyUsages: ['digitalSignature'],
      extendedUsages: [usage],
      ...(usage === 'serverAuth' ? { ipAddresses: ['127.0.0.1'] } : {}),
    })
    return { cert, key: keys.privateKeyPem }
  }
}

/** The link between a node and its control plane, which a test cuts. */
class TestLink implements AsyncDisposable {
  readonly #server = createServer((socket) => this.#onSocket(socket))
  readonly #sockets = new Set<Socket>()
  readonly #target: number
  #port = 0
  #swallows = false

  constructor(target: number) {
    this.#target = target
  }

  get url(): string {
    return `https://127.0.0.1:${this.#port}`
  }

  async restore(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(this.#port, '127.0.0.1', resolve))
    // A listening TCP server has an address with a port.
    this.#port = (this.#server.address() as AddressInfo).port
  }

  async cut(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    for (const socket of this.#sockets) socket.destroy()
    await closed
  }

  /** From now on, the link swallows every byte, and nobody is told. */
  swallow(): void {
    this.#swallows = true
    for (const socket of this.#sockets) socket.unpipe().resume()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#server.listening) await this.cut()
  }

  #onSocket(socket: Socket): void {
    const onward = connect(this.#target, '127.0.0.1')
    for (const each of [socket, onward]) {
      this.#sockets.add(each)
      each.on('error', () => undefined)
      each.on('close', () => {
        this.#sockets.delete(each)
        socket.destroy()
        onward.destroy()
      })
    }
    if (this.#swallows) return
    socket.pipe(onward)
    onward.pipe(socket)
  }
}
