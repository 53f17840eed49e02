import { join } from 'node:path'
import { createApiFront, createReadPath, type ApiFront, type TlsFiles } from '@skerry/apiserver'
import { runAll, type Clock, type Logger, type Random } from '@skerry/base'
import { createCluster, type CredentialSource, type HttpsTransport } from '@skerry/client'
import { builtinKinds } from '@skerry/kinds'
import { Identities } from './access/identities.ts'
import { Rights } from './access/rights.ts'
import { rightsInAbsence, rightsInAdvance } from './access/rights-in-advance.ts'
import { KeptAnswers } from './answers/kept-answers.ts'
import { NodeAnswers, type AwayParts } from './answers/node-answers.ts'
import { PodSessions, type PodSessionsDeps } from './answers/pod-sessions.ts'
import { ReviewAnswers, type ReviewAnswersDeps } from './answers/review-answers.ts'
import { TokenAnswers, type TokenAnswersDeps } from './answers/token-answers.ts'
import { WriteAnswers } from './answers/write-answers.ts'
import { CopyFile } from './copies/copy-file.ts'
import { CopySet } from './copies/copy-set.ts'
import type { KeptScope } from './copies/kept-scope.ts'
import { Link } from './link/link.ts'
import { PassOn } from './link/pass-on.ts'
import { nodeApiBounds, nodeApiServerLimits } from './limits-table.ts'
import type { LocalNode } from './access/local-node.ts'
import { LocalWrites } from './writes/local-writes.ts'
import { OfflinePolicies } from './writes/offline-policies.ts'
import { Replay } from './writes/replay.ts'
import { WriteJournal } from './writes/write-journal.ts'
import { WriterTokens } from './writes/writer-tokens.ts'

export interface LocalApiOptions {
  readonly nodeName: string
  readonly address: string
  readonly port: number
  readonly tls: TlsFiles
  /** The directory of the copies and of the journal of writes. Nobody else may read it. */
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
  readonly node: LocalNode
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
}

export interface LocalApi extends AsyncDisposable {
  readonly port: number
  /** Call this when the machine has another address: connections to the control plane from the former one are dead. */
  reconnect(): void
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
  const journal = stack.use(await WriteJournal.open(join(options.directory, 'writes.db'), deps))
  const kinds = await builtinKinds({ includeBeta: true })
  const asNode = stack.use(controlPlane.open())
  const anonymous = stack.use(controlPlane.open(() => Promise.resolve({})))
  const cluster = createCluster(asNode, { clock, log, userAgent: options.userAgent })
  const link = new Link(anonymous, { clock, log })
  const passOn = stack.use(new PassOn(controlPlane, clock))
  const open = controlPlane.open
  const base = { ...deps, ...options, file, link, cluster, anonymous, journal, open }
  const policies = new OfflinePolicies(base)
  const accounts = deps.node.accounts
  const inAdvance = () => [
    ...rightsInAdvance(options.kept, policies.all, accounts()),
    ...rightsInAbsence(rights.users(), accounts()),
  ]
  const known = { ...base, policies, inAdvance }
  const identities = new Identities(known)
  const rights: Rights = new Rights(known)
  const tokens = new WriterTokens(known)
  const replaying = Promise.withResolvers<Replay>()
  const front: ApiFront = createApiFront(
    { tls: options.tls, limits: nodeApiServerLimits, ...nodeApiBounds.localApi },
    (unread) => {
      const readPath = stack.use(
        createReadPath({ kinds, limits: nodeApiServerLimits }, { ...deps, unread }),
      )
      const parts = { ...known, readPath, rights, tokens, identities, passOn }
      const copies = new CopySet(options.kept, parts, signal)
      stack.defer(() => copies.close())
      const replay = new Replay({ ...parts, copies })
      replaying.resolve(replay)
      const writes = new LocalWrites({ ...parts, copies, onWrite: () => replay.wake() })
      const writing = { writes, journal, answers: new WriteAnswers({ ...parts, writes }) }
      const away = { kept: new KeptAnswers(parts), writing, parts: awayParts(parts) }
      const answers = new NodeAnswers({ ...parts, copies, ...away })
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
    reconnect() {
      passOn.reconnect()
      link.suspect()
    },
    setTls: (tls) => front.setTls(tls),
    run: (scope) =>
      runAll(scope, [
        (one) => link.run(one),
        (one) => rights.run(one),
        (one) => policies.run(one, () => rights.checkSoon()),
        async (one) => (await replaying.promise).run(one),
      ]),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

function awayParts(deps: PodSessionsDeps & ReviewAnswersDeps & TokenAnswersDeps): AwayParts {
  return {
    sessions: new PodSessions(deps),
    reviews: new ReviewAnswers(deps),
    tokens: new TokenAnswers(deps),
  }
}
