import { StatusError } from '@skerry/api'
import {
  bearerTokenOf,
  parseRequestInfo,
  type ApiAnswer,
  type ApiRequest,
  type ObjectCopy,
  type ReadPath,
  type RequestInfo,
  type UpgradeSocket,
  type UserInfo,
} from '@skerry/apiserver'
import { asError, whenAborted, withTimeout, type Clock, type Logger } from '@skerry/base'
import { encodeCanonical } from '@skerry/bodies'
import { askedRight, type AskedRight } from '../access/asked-right.ts'
import type { Identities } from '../access/identities.ts'
import type { Rights } from '../access/rights.ts'
import { CopiedStore } from '../copies/copied-store.ts'
import type { CopyFile, StoredAnswer } from '../copies/copy-file.ts'
import type { CopySet } from '../copies/copy-set.ts'
import { scopeOf, scopeText } from '../copies/scope.ts'
import type { Link } from '../link/link.ts'
import type { LocalWrites } from '../writes/local-writes.ts'
import type { WriteJournal } from '../writes/write-journal.ts'
import { NoAnswerError, type PassOn } from '../link/pass-on.ts'
import { nodeApiBounds } from '../limits-table.ts'
import { askedText, awayRefusal, type AwayRequest } from './away-refusals.ts'
import { singleKey, type KeptAnswers } from './kept-answers.ts'
import { copyUse, isRead, watchFrom } from './plan-way.ts'
import type { PodSessions } from './pod-sessions.ts'
import type { ReviewAnswers } from './review-answers.ts'
import type { TokenAnswers } from './token-answers.ts'
import type { WriteAnswers } from './write-answers.ts'

const { remembersAtOnceMax, rememberMs, suspectMs } = nodeApiBounds.nodeAnswers

const forever = new AbortController().signal

export interface NodeAnswersDeps {
  readonly link: Link
  readonly passOn: PassOn
  readonly copies: CopySet
  readonly kept: KeptAnswers
  readonly file: CopyFile
  readonly readPath: ReadPath
  readonly identities: Identities
  readonly rights: Rights
  readonly writing: Writing
  readonly parts: AwayParts
  readonly clock: Clock
  readonly log: Logger
}

/** The answers of this node to other requests than those for objects, while the control plane is away. */
export interface AwayParts {
  readonly sessions: PodSessions
  readonly reviews: ReviewAnswers
  readonly tokens: TokenAnswers
}

/** The parts by which this node takes writes for a control plane that is away. */
export interface Writing {
  readonly answers: WriteAnswers
  readonly writes: LocalWrites
  readonly journal: WriteJournal
}

/** Chooses for each request whether the control plane or this node answers it. */
export class NodeAnswers {
  readonly #deps: NodeAnswersDeps
  readonly #remembering = new Set<Promise<void>>()

  constructor(deps: NodeAnswersDeps) {
    this.#deps = deps
  }

  /** Throws StatusError for refusals. */
  async onRequest(request: ApiRequest): Promise<ApiAnswer> {
    const info = parseRequestInfo(request.method, request.target)
    const { link, log } = this.#deps
    if (link.isUp && !this.#isHeld(info)) {
      const asked = { request, info, token: ownToken(request) }
      const shared = await this.#shared(asked)
      if (shared) return shared
      this.#requireKnown(info)
      try {
        return await this.#passed(asked)
      } catch (error) {
        if (!(error instanceof NoAnswerError)) throw error
        log.debug('Request not answered', { path: info.path, error })
        link.suspect()
        if (!isRead(info)) throw unknownOutcome(error)
      }
    }
    const token = ownToken(request)
    if (link.isUp && token !== undefined) this.#deps.copies.offer(info.resource, token)
    return this.#away(request, info)
  }

  async onUpgrade(request: ApiRequest, client: UpgradeSocket): Promise<void> {
    const { link, passOn, parts } = this.#deps
    if (link.isUp) return passOn.upgrade(request, client, () => link.suspect())
    const info = parseRequestInfo(request.method, request.target)
    if (!info.isResourceRequest || !parts.sessions.serves(info)) {
      throw awayRefusal(`${askedText(info)} goes through it`, link.awayMs())
    }
    await parts.sessions.upgrade(await this.#known(request, info), client)
  }

  /** Readers of a resource see this node's own writes until the control plane has them. */
  #isHeld({ isResourceRequest, resource, subresource }: RequestInfo): boolean {
    return isResourceRequest && subresource === '' && this.#deps.writing.writes.holds(resource)
  }

  /** The control plane knows nothing of revisions that this node gave out. */
  #requireKnown(info: RequestInfo): void {
    if (!info.isResourceRequest || info.verb !== 'watch') return
    const from = watchFrom(info)
    if (from === 0 || !this.#deps.writing.journal.isOwnRevision(info.resource, from)) return
    throw new StatusError('Expired', `too old resource version: ${from}`)
  }

  /** Resolves when what was learned from answers is remembered. */
  async settled(): Promise<void> {
    await Promise.all(this.#remembering)
  }

  /** Answers from a copy that readers share while the control plane answers. Undefined if there is none. */
  async #shared({ request, info, token }: Asked): Promise<ApiAnswer | undefined> {
    const use = copyUse(info)
    const { readPath, copies, identities, rights, log } = this.#deps
    if (use === 'never' || token === undefined) return undefined
    if (readPath.kindOf(info.resource) === undefined) return undefined
    const right = askedRight(info)
    const { signal } = request
    try {
      const user = await identities.reviewed(token, signal)
      // The control plane refuses in its own words.
      if (!(await rights.mayRead(user, right, signal))) return undefined
      const followed = await copies.follow(scopeOf(info), token, signal)
      if (!followed || use === 'later' || (use === 'if-new' && !followed.isNew)) return undefined
      const { copy, resource } = followed
      if (info.verb === 'watch' && watchFrom(info) !== 0 && watchFrom(info) < copy.oldestRevision) {
        return undefined
      }
      resource.usedAtMs = this.#deps.clock.now()
      return await this.#fromCopy({ request, info, user, right }, copy)
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof StatusError && !unanswered.has(error.code)) throw error
      log.debug('Copy is not used', { scope: scopeText(scopeOf(info)), error: asError(error) })
      return undefined
    }
  }

  async #passed({ request, info, token }: Asked): Promise<ApiAnswer> {
    const { link, kept } = this.#deps
    const keeps = token !== undefined && kept.keeps(info)
    const { 'accept-encoding': _, ...plain } = request.headers
    const sent = keeps ? { ...request, headers: plain } : request
    const answer = await this.#asked(sent, info)
    link.answered()
    if (token === undefined || !isRead(info)) return answer
    if (answer.status === 200 || answer.status === 403)
      this.#remember({ info, token }, answer.status)
    return keeps ? kept.keep(answer, info, request.headers['accept'] ?? '') : answer
  }

  /** A read does not wait for an answer from a link that turns out to be lost: this node answers it. */
  async #asked(request: ApiRequest, info: RequestInfo): Promise<ApiAnswer> {
    const { passOn, link, clock } = this.#deps
    if (!isRead(info)) return passOn.ask(request, isLasting(info))
    const lost = new AbortController()
    using _slow = clock.setTimer(suspectMs, () => link.suspect())
    using _changes = link.onChange((isUp) => {
      if (!isUp) lost.abort(new NoAnswerError('Cannot reach the control plane: it went away'))
    })
    const signal = AbortSignal.any([request.signal, lost.signal])
    return await passOn.ask({ ...request, signal }, isLasting(info))
  }

  /** Remembers what the control plane allowed or refused, without a delay for the reader. */
  #remember({ info, token }: Pick<Asked, 'info'> & { token: string }, status: number): void {
    const { identities, rights, log, clock } = this.#deps
    if (this.#remembering.size >= remembersAtOnceMax) return
    const right = askedRight(info)
    const limit = { ms: rememberMs, message: 'no answer to a review in time', clock }
    const work = withTimeout(limit, forever, (signal) => identities.reviewed(token, signal))
      .then((user) => (status === 200 ? rights.confirm(user, right) : rights.refuse(user, right)))
      .catch((error: unknown) => log.debug('Right not remembered', { error: asError(error) }))
      .finally(() => this.#remembering.delete(work))
    this.#remembering.add(work)
  }

  async #away(request: ApiRequest, info: RequestInfo): Promise<ApiAnswer> {
    const { rights, parts, writing } = this.#deps
    const known = await this.#known(request, info)
    const { user, refuse } = known
    if (info.isResourceRequest) {
      const part = Object.values(parts).find((each) => each.serves(info))
      if (part) return part.answer(known)
    }
    if (!isRead(info)) return writing.answers.answer(known)
    const right = askedRight(info)
    if (!rights.couldDo(user, right)) {
      throw refuse(
        `${JSON.stringify(user.name)} was not seen to have the right to ${askedText(info)} before`,
      )
    }
    const asked = { request, info, user, right }
    const answer = info.isResourceRequest
      ? await this.#objects(asked, ownToken(request))
      : this.#document(request, info)
    if (answer) return answer
    throw refuse(`${askedText(info)} was not copied to this node before`)
  }

  /** Throws StatusError Unauthorized for a bad token. */
  async #known(request: ApiRequest, info: RequestInfo): Promise<AwayRequest> {
    const { link, identities } = this.#deps
    const refuse = (why: string): StatusError => awayRefusal(why, link.awayMs())
    const token = ownToken(request)
    if (token === undefined)
      throw refuse('it alone knows callers without a bearer token of their own')
    const user = await identities.verified(token, request.signal)
    return { request, info, user, refuse }
  }

  #document(request: ApiRequest, info: RequestInfo): ApiAnswer | undefined {
    const found = this.#deps.kept.document(info, request.headers['accept'] ?? '')
    if (!found) return undefined
    const { value: body, headers, readAtMs } = found
    return { status: 200, headers: { ...headers, ...this.#age(readAtMs) }, body }
  }

  async #objects(asked: Admitted, token: string | undefined): Promise<ApiAnswer | undefined> {
    const { info } = asked
    if (info.subresource !== '' || info.method === 'HEAD') return undefined
    if (info.verb === 'get') return this.#object(asked)
    const found = this.#deps.copies.find(scopeOf(info))
    if (!found?.copy) return undefined
    found.usedAtMs = this.#deps.clock.now()
    if (token !== undefined) found.offerForReturn(token)
    const answer = await this.#fromCopy(asked, found.copy)
    return { ...answer, headers: { ...answer.headers, ...this.#age(found.readAtMs) } }
  }

  /** Answers from the newer one of a copy of the resource and the object that was read by name. */
  async #object(asked: Admitted): Promise<ApiAnswer | undefined> {
    const { info } = asked
    const { copies, file, readPath } = this.#deps
    const { resource, namespace, name } = info
    if (!readPath.kindOf(resource)) return undefined
    const copied = copies.find({ resource, namespace, labelSelector: '', fieldSelector: '' })
    const single = file.single(singleKey(info))
    const isHeld = this.#isHeld(info)
    if (copied?.copy && (isHeld || copied.copy.revision >= (single?.revision ?? 0))) {
      const answer = await this.#fromCopy(asked, copied.copy)
      return { ...answer, headers: { ...answer.headers, ...this.#age(copied.readAtMs) } }
    }
    if (isHeld) return undefined
    const found = single ?? this.#ownPod(info)
    if (!found) return undefined
    const { revision, value, readAtMs } = found
    const key =
      namespace === '' || resource.resource === 'namespaces' ? name : `${namespace}/${name}`
    const store = new CopiedStore({
      revision: () => revision,
      objects: ({ after }) => (after === '' ? [{ key, revision, value }] : []),
      keyOf: (objectKey) => readPath.keyOf(resource, objectKey),
    })
    const answer = await this.#fromCopy(asked, await readPath.open(resource, store))
    return { ...answer, headers: { ...answer.headers, ...this.#age(readAtMs) } }
  }

  /** A pod on this node is known here, as clients ask before they ask for its log. */
  #ownPod({ resource, namespace, name }: RequestInfo): StoredRevision | undefined {
    const { parts, clock } = this.#deps
    if (resource.group !== '' || resource.resource !== 'pods') return undefined
    const pod = parts.sessions.findPod(namespace, name)
    const revision = Number(pod?.metadata.resourceVersion)
    // A static pod has no revision.
    if (!pod || !Number.isSafeInteger(revision)) return undefined
    const object = { ...pod, apiVersion: 'v1', kind: 'Pod' }
    return { revision, value: utf8.encode(encodeCanonical(object)), readAtMs: clock.now() }
  }

  /** A watch ends with its reader's right. */
  async #fromCopy({ request, info, user, right }: Admitted, copy: ObjectCopy): Promise<ApiAnswer> {
    if (info.verb !== 'watch') return copy.answer(request, { info, user, signal: request.signal })
    const ended = new AbortController()
    const onEnd = (): void => ended.abort(new Error('the reader lost its right'))
    const held = this.#deps.rights.whileAllowed(user, right, onEnd)
    whenAborted(request.signal, () => held[Symbol.dispose]())
    const signal = AbortSignal.any([request.signal, ended.signal])
    return copy.answer(request, { info, user, signal })
  }

  #age(readAtMs: number): Record<string, string> {
    const seconds = Math.max(0, Math.round((this.#deps.clock.now() - readAtMs) / 1_000))
    return { age: String(seconds) }
  }
}

type StoredRevision = StoredAnswer & { readonly revision: number }

const utf8 = new TextEncoder()

interface Asked {
  readonly request: ApiRequest
  readonly info: RequestInfo
  /** The caller's own token. Undefined if there is none, or if the caller acts as somebody else. */
  readonly token: string | undefined
}

/** A request of somebody who may read what it names. */
interface Admitted {
  readonly request: ApiRequest
  readonly info: RequestInfo
  readonly user: UserInfo
  readonly right: AskedRight
}

/** Statuses of a control plane that could not say what it was asked. */
const unanswered: ReadonlySet<number> = new Set([401, 403, 500, 503, 504])

function ownToken(request: ApiRequest): string | undefined {
  const { headers } = request
  if (Object.keys(headers).some((name) => name.startsWith('impersonate-'))) return undefined
  return bearerTokenOf({ headers, clientCertificates: [] })
}

const lastingParts: ReadonlySet<string> = new Set(['log', 'proxy', 'exec', 'attach', 'portforward'])

function isLasting({ verb, subresource }: RequestInfo): boolean {
  return verb === 'watch' || verb === 'proxy' || lastingParts.has(subresource)
}

function unknownOutcome(cause: NoAnswerError): StatusError {
  const text =
    'Cannot write: the control plane did not answer, so that it is not known whether the change was made; read the object again before repeating it'
  return new StatusError('ServiceUnavailable', text, {
    cause,
    details: { retryAfterSeconds: 2 },
  })
}
