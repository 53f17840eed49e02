import { join } from 'node:path'
import { createApiFront, createReadPath, type ApiFront, type TlsFiles } from '@skerry/apiserver'
import { runAll, type Clock, type Logger, type Random } from '@skerry/base'
import { createCluster, type CredentialSource, type HttpsTransport } from '@skerry/client'
import { builtinKinds } from '@skerry/kinds'
import { Identities, type BoundPod } from './access/identities.ts'
import { Rights } from './access/rights.ts'
import { rightsInAdvance, type PodAccount } from './access/rights-in-advance.ts'
import { KeptAnswers } from './answers/kept-answers.ts'
import { NodeAnswers } from './answers/node-answers.ts'
import { CopyFile } from './copies/copy-file.ts'
import { CopySet } from './copies/copy-set.ts'
import type { KeptScope } from './copies/kept-scope.ts'
import { Link } from './link/link.ts'
import { PassOn } from './link/pass-on.ts'
import { nodeApiBounds, nodeApiServerLimits } from './limits-table.ts'

export interface LocalApiOptions {
  readonly address: string
  readonly port: number
  readonly tls: TlsFiles
  /** The directory of the copies. Nobody else may read it. */
  readonly directory: string
  /** The parts of the API that are copied before anybody asks for them. */
  readonly kept: readonly KeptScope[]
  readonly userAgent: string
}

/** The control plane as this node reaches it. */
export interface ControlPlane {
  /** The URL of the API server in use, read for each request. */
  readonly server: () => string
  /** PEM of the authority of API servers. */
  readonly authorityPem: string
  /** Opens a transport with these credentials; if omitted, with the node's own. */
  readonly open: (credentials?: CredentialSource) => HttpsTransport
}

export interface LocalApiDeps {
  readonly controlPlane: ControlPlane
  /** Returns true if this pod is on the node. */
  readonly hasPod: (pod: BoundPod) => boolean
  /** Returns the accounts of the pods on the node. */
  readonly accounts: () => readonly PodAccount[]
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
}

export interface LocalApi extends AsyncDisposable {
  readonly port: number
  /** Uses a renewed certificate for new connections. */
  setTls(tls: TlsFiles): void
  /** Works until the signal aborts. */
  run(signal: AbortSignal): Promise<void>
}

/** Resolves when the port is open and the copies on disk are read. */
export async function createLocalApi(
  options: LocalApiOptions,
  deps: LocalApiDeps,
  signal: AbortSignal,
): Promise<LocalApi> {
  await using stack = new AsyncDisposableStack()
  const { controlPlane, clock, log } = deps
  const file = stack.use(await CopyFile.open(join(options.directory, 'copies.db'), log))
  const kinds = await builtinKinds({ includeBeta: true })
  const asNode = stack.use(controlPlane.open())
  const anonymous = stack.use(controlPlane.open(() => Promise.resolve({})))
  const cluster = createCluster(asNode, { clock, log, userAgent: options.userAgent })
  const link = new Link(anonymous, { clock, log })
  const passOn = stack.use(new PassOn(controlPlane, clock))
  const inAdvance = () => rightsInAdvance(options.kept, deps.accounts())
  const known = { ...deps, ...options, file, link, cluster, anonymous, inAdvance }
  const identities = new Identities(known)
  const rights = new Rights(known)
  const front: ApiFront = createApiFront(
    { tls: options.tls, limits: nodeApiServerLimits, ...nodeApiBounds.localApi },
    (unread) => {
      const readPath = stack.use(
        createReadPath({ kinds, limits: nodeApiServerLimits }, { ...deps, unread }),
      )
      const parts = { ...known, open: controlPlane.open, readPath }
      const copies = new CopySet(options.kept, parts, signal)
      stack.defer(() => copies.close())
      const kept = new KeptAnswers(parts)
      const answers = new NodeAnswers({ ...parts, passOn, copies, kept, identities, rights })
      stack.defer(() => answers.settled())
      return answers
    },
    { clock, log },
  )
  stack.use(front)
  const { port } = await front.listen(options.address, options.port)
  const owned = stack.move()
  return {
    port,
    setTls: (tls) => front.setTls(tls),
    run: (scope) => runAll(scope, [(one) => link.run(one), (one) => rights.run(one)]),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}
