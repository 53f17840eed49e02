import { cpSync, renameSync, rmSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock, systemRandom, type Clock, type Logger } from '@skerry/base'
import {
  NotConnectedError,
  createHttpsTransport,
  readBody,
  type CredentialSource,
  type HttpsTransport,
  type TransportRequest,
} from '@skerry/client'
import { builtinKinds } from '@skerry/kinds'
import { clientKeyAnnotation } from '@skerry/bootstrap'
import { generateKeyPair, signCertificate, signNodeToken, spkiHash } from '@skerry/pki'
import {
  callApi,
  startTestApiServer,
  until,
  type ApiCall,
  type ApiReply,
  type TestApiServer,
} from '@skerry/testing'
import { offlineKinds } from '../kinds/offline-kinds.ts'
import { createLocalApi, type LocalApi } from '../local-api.ts'
import type { KeptScope } from '../copies/kept-scope.ts'
import type { LocalNode } from '../access/local-node.ts'
import { SceneAgent } from './scene-agent.ts'

export interface SceneOptions {
  readonly log: Logger
  readonly kept?: readonly KeptScope[]
  /** If false, the test starts the node. Default: true. */
  readonly isStarted?: boolean
  /** The accounts of the node's pods. */
  readonly accounts?: { namespace: string; name: string }[]
  /** The node's clock. Default: the machine's. */
  readonly clock?: Clock
  /** Decides what becomes of each request of the node's own to its site. Default: it is answered. */
  readonly fault?: (request: TransportRequest) => Fault
}

/** A request that is not sent, one whose answer is lost, or one that is answered. */
export type Fault = 'unsent' | 'unanswered' | 'none'

/** A site, a link, and a node with its own API. */
export class LocalApiScene implements AsyncDisposable {
  readonly site: TestApiServer
  readonly link: TestLink
  readonly directory: string
  readonly agent: SceneAgent
  /** The pods on the node, by `namespace/name/uid`. */
  readonly pods = new Set<string>()
  readonly #options: SceneOptions
  readonly #stack: AsyncDisposableStack
  readonly #given = new Map<string, string[]>()
  #node: { api: LocalApi; stop: () => Promise<void> } | undefined
  #client: { cert: string; key: string } | undefined

  private constructor(
    parts: { site: TestApiServer; link: TestLink; directory: string; agent: SceneAgent },
    options: SceneOptions,
    stack: AsyncDisposableStack,
  ) {
    this.site = parts.site
    this.link = parts.link
    this.directory = parts.directory
    this.agent = parts.agent
    this.#options = options
    this.#stack = stack
  }

  static async start(options: SceneOptions): Promise<LocalApiScene> {
    await using stack = new AsyncDisposableStack()
    const namespaces = ['default', 'kube-system', 'kube-node-lease', 'shop']
    const builtin = await builtinKinds()
    const kinds = [...builtin, ...offlineKinds(builtin)]
    const site = stack.use(await startTestApiServer({ withAccess: true, namespaces, kinds }))
    const link = stack.use(new TestLink(Number(new URL(site.url).port)))
    await link.restore()
    const directory = await mkdtemp(join(tmpdir(), 'skerry-node-api-'))
    stack.defer(() => rm(directory, { recursive: true, force: true }))
    const agent = stack.use(await SceneAgent.start({ clock: systemClock, log: options.log }))
    const scene = new LocalApiScene({ site, link, directory, agent }, options, stack.move())
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
    const client = await this.#clientCertificate()
    const serving = await this.#certificate(nodeUser, 'serverAuth')
    const asNode: CredentialSource = () =>
      Promise.resolve({ certificate: client.cert, key: client.key })
    const { ca } = site.credentials
    const { clock = systemClock } = this.#options
    const open = (credentials = asNode): HttpsTransport =>
      this.#withFaults(
        createHttpsTransport(
          { server: link.url, certificateAuthority: ca, credentials },
          { clock },
        ),
      )
    const api = await createLocalApi(
      {
        nodeName: 'n1',
        address: '127.0.0.1',
        port: 0,
        tls: { ...serving, clientCa: ca },
        directory: this.directory,
        kept: this.#options.kept ?? [],
        userAgent: 'skerry-node/test',
      },
      {
        controlPlane: { server: () => link.url, authorityPem: ca, open },
        node: this.#localNode(client, clock),
        clock,
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

  /** Makes the Node object, with the hash of the node's key. */
  async register(): Promise<void> {
    const { cert } = await this.#clientCertificate()
    const metadata = { name: 'n1', annotations: { [clientKeyAnnotation]: spkiHash(cert) } }
    await this.admin({ method: 'POST', path: '/api/v1/nodes', body: { metadata } })
  }

  async stopNode(): Promise<void> {
    const node = this.#node
    this.#node = undefined
    await node?.stop()
  }

  /** Ends the node as a kill does, and starts it again from what is on its disk at that moment. */
  async crash(): Promise<void> {
    const left = `${this.directory}-left`
    cpSync(this.directory, left, { recursive: true })
    await this.stopNode()
    rmSync(this.directory, { recursive: true })
    renameSync(left, this.directory)
    await this.startNode()
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
  async podWith(account: string, own: object = {}): Promise<{ token: string; pod: string }> {
    const metadata = { name: account, namespace: 'shop' }
    const containers = [{ name: 'app', image: 'app:1' }]
    const spec = { serviceAccountName: account, containers, ...own }
    const path = '/api/v1/namespaces/shop/pods'
    const made = await this.admin({ method: 'POST', path, body: { metadata, spec } })
    const { uid } = made.body.metadata
    const boundObjectRef = { apiVersion: 'v1', kind: 'Pod', name: account, uid }
    const token = await this.#token(account, { boundObjectRef })
    this.#given.set(uid, [token])
    if (made.body.spec.nodeName === 'n1') this.agent.run(made.body)
    return { token, pod: `shop/${account}/${uid}` }
  }

  /**
   * Lets an account of a new pod on the node write ConfigMaps while the site is away. Returns a token of the pod. Call
   * this before the node starts.
   */
  async writer(name: string, winner: 'cloud' | 'edge' | 'newest' = 'cloud'): Promise<string> {
    const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['*'] }]
    await this.account(name, rules)
    const { token, pod } = await this.podWith(name, { nodeName: 'n1' })
    this.pods.add(pod)
    const spec = {
      resources: [{ resource: 'configmaps' }],
      namespaces: ['shop'],
      serviceAccounts: [{ namespace: 'shop', name }],
      winner,
    }
    const policies = '/apis/node.skerry.io/v1alpha1/offlinewrites'
    await this.admin({ method: 'POST', path: policies, body: { metadata: { name }, spec } })
    return token
  }

  /** Gives nodes the rights that a site gives them for writes while it is away, and makes the node's Lease. */
  async allowOfflineWrites(): Promise<void> {
    const rbac = '/apis/rbac.authorization.k8s.io/v1'
    const metadata = { name: 'node' }
    const apiGroups = ['node.skerry.io']
    const rules = [
      { apiGroups, resources: ['offlinewrites'], verbs: ['get', 'list', 'watch'] },
      { apiGroups, resources: ['conflicts'], verbs: ['create'] },
    ]
    await this.admin({ method: 'POST', path: `${rbac}/clusterroles`, body: { metadata, rules } })
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'node' }
    const subjects = [
      { apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'system:nodes' },
    ]
    const binding = { metadata, roleRef, subjects }
    await this.admin({ method: 'POST', path: `${rbac}/clusterrolebindings`, body: binding })
    const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases'
    const lease = { metadata: { name: 'n1' }, spec: { holderIdentity: 'n1' } }
    await this.admin({ method: 'POST', path: leases, body: lease })
  }

  /** Calls the site as its administrator. */
  async admin(call: ApiCall): Promise<ApiReply> {
    const reply = await callApi(this.site.transport, call)
    if (reply.status >= 300) throw new Error(`${call.path}: ${reply.text}`)
    return reply
  }

  /** Resolves when the node remembers rights of an account in the namespace shop, e.g. `create pods/exec`. */
  async untilKnown(account: string, ...rights: readonly string[]): Promise<void> {
    const keys = rights.map((right) => {
      const [, verb = '', resource = '', part = ''] = /^(\w+) (\w+)(?:\/(\w+))?$/.exec(right) ?? []
      const key = JSON.stringify([
        verb,
        '',
        resource,
        'shop',
        '',
        '',
        '',
        '',
        ...(part ? [part] : []),
      ])
      const user = `"system:serviceaccount:shop:${account}"`
      return new RegExp(`${user}[^\\]]*\\],${RegExp.escape(key.slice(1))}`)
    })
    for (const key of keys) await this.untilRemembered(key)
  }

  /** Resolves when the node's disk has this text. */
  async untilRemembered(text: RegExp): Promise<void> {
    const files = ['copies.db', 'copies.db-wal'].map((name) => join(this.directory, name))
    await until(async () => {
      const all = await Promise.all(files.map((file) => readFile(file, 'latin1').catch(() => '')))
      return all.some((each) => text.test(each))
    })
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
    // A connection that was made during the cut ends at once.
    const isReady = async (): Promise<boolean> =>
      (await this.ask('', { path: '/readyz' })).status === 200
    await until(() => isReady().catch(() => false))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stopNode()
    await this.#stack.disposeAsync()
  }

  #localNode({ cert, key }: { cert: string; key: string }, clock: Clock): LocalNode {
    const signer = { nodeName: 'n1', certificatePem: cert, privateKeyPem: key }
    return {
      accounts: () => this.#options.accounts ?? [],
      hasPod: ({ namespace, name, uid }) => this.pods.has(`${namespace}/${name}/${uid}`),
      findPod: (namespace, name) => this.agent.find(namespace, name),
      connect: () => this.agent.server.connect(),
      tokensOf: (uid) => this.#given.get(uid) ?? [],
      signToken: (former, seconds) =>
        signNodeToken(former, signer, { nowMs: clock.now(), seconds }),
      certificatePem: () => cert,
    }
  }

  async #clientCertificate(): Promise<{ cert: string; key: string }> {
    this.#client ??= await this.#certificate(nodeUser, 'clientAuth')
    return this.#client
  }

  #withFaults(transport: HttpsTransport): HttpsTransport {
    const { fault } = this.#options
    if (!fault) return transport
    return {
      ...transport,
      async send(request, signal) {
        const found = fault(request)
        if (found === 'unsent') throw new NotConnectedError('the link is cut')
        const answer = await transport.send(request, signal)
        if (found === 'none') return answer
        await readBody(answer.body)
        throw new Error('the link is cut before the answer')
      },
      [Symbol.dispose]: () => transport[Symbol.dispose](),
    }
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

const nodeUser = Object.freeze({
  commonName: 'system:node:n1',
  organizations: ['system:nodes'],
})

/** The link between a node and its control plane, which a test cuts. */
class TestLink implements AsyncDisposable {
  readonly #server = createServer((socket) => this.#onSocket(socket))
  readonly #sockets = new Set<Socket>()
  readonly #target: number
  #port = 0
  #swallows = false
  /** The number of connections that were ever made. */
  connections = 0

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
    this.connections += 1
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
