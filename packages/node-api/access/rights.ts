import type { SubjectAccessReview } from '@skerry/api'
import type { UserInfo } from '@skerry/apiserver'
import {
  RecentMap,
  asError,
  createWakeFlag,
  type Clock,
  type Logger,
  type Random,
} from '@skerry/base'
import { resources, type ClusterClient } from '@skerry/client'
import type { CopyFile } from '../copies/copy-file.ts'
import type { Link } from '../link/link.ts'
import { nodeApiBounds } from '../limits-table.ts'
import { parseRightKey, rightKey, sufficientRights, type AskedRight } from './asked-right.ts'
import type { UserAndRight } from './rights-in-advance.ts'

const { allowedMs, refusedMs, checkMs, advanceMs, rareMs, checksAtOnce } = nodeApiBounds.rights
const { rightsMax } = nodeApiBounds.copyFile

export interface RightsDeps {
  /** The control plane as the node itself, which may ask who may do what. */
  readonly cluster: ClusterClient
  readonly file: CopyFile
  readonly link: Link
  /** Returns what users may need although they have not asked yet. */
  readonly inAdvance: () => readonly UserAndRight[]
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
}

/**
 * Knows what users of this node may do. The control plane decides; its answers are remembered, and asked again
 * every few minutes, so that they still hold when it goes away. Nobody gets a right that it has not confirmed.
 */
export class Rights {
  readonly #deps: RightsDeps
  /** Confirmed rights, which are on disk as well. */
  readonly #confirmed: RecentMap<string, UserInfo>
  /** The latest answers, in monotonic milliseconds. */
  readonly #answers = new RecentMap<string, { isAllowed: boolean; untilMs: number }>(rightsMax)
  readonly #wake = createWakeFlag()
  readonly #lasting = new Map<string, Set<() => void>>()

  constructor(deps: RightsDeps) {
    this.#deps = deps
    this.#confirmed = new RecentMap(rightsMax)
    for (const { key, user } of deps.file.rights()) {
      // confirm() wrote it.
      this.#confirmed.set(key, JSON.parse(user) as UserInfo)
    }
  }

  /** Asks the control plane, unless it has answered a moment ago. */
  async mayRead(user: UserInfo, right: AskedRight, signal: AbortSignal): Promise<boolean> {
    const key = rightKey(user, right)
    const known = this.#answers.get(key)
    if (known && known.untilMs > this.#deps.clock.monotonicMs()) return known.isAllowed
    const isAllowed = await this.#ask(user, right, signal)
    if (isAllowed) this.confirm(user, right)
    else this.refuse(user, right)
    return isAllowed
  }

  /** Tells whether the control plane had confirmed this, or more, before it went away. */
  couldDo(user: UserInfo, right: AskedRight): boolean {
    return sufficientRights(right).some(
      (each) => this.#confirmed.use(rightKey(user, each)) !== undefined,
    )
  }

  /** Returns the users whose rights are remembered, the latest first. */
  users(): UserInfo[] {
    const all = [...this.#confirmed].map(([, user]) => user)
    const keyed = all.map((user): [string, UserInfo] => [rightKey(user, nothing), user])
    return [...new Map(keyed.toReversed()).values()]
  }

  /** Call this when the control plane has allowed it. */
  confirm(user: UserInfo, right: AskedRight): void {
    const { file, clock } = this.#deps
    const key = rightKey(user, right)
    this.#answers.set(key, { isAllowed: true, untilMs: clock.monotonicMs() + allowedMs })
    if (this.#confirmed.use(key) !== undefined) return
    this.#makeRoom()
    this.#confirmed.set(key, user)
    file.putRight(key, JSON.stringify(user), clock.now())
    // The user may be new, and may need more while the control plane is away.
    this.#wake.raise()
  }

  /** Call this when the control plane has refused it. Watches that began with this right end. */
  refuse(user: UserInfo, right: AskedRight): void {
    const key = rightKey(user, right)
    const untilMs = this.#deps.clock.monotonicMs() + refusedMs
    this.#answers.set(key, { isAllowed: false, untilMs })
    this.#forget(key)
  }

  /** Calls back when the user loses the right. */
  whileAllowed(user: UserInfo, right: AskedRight, onEnd: () => void): Disposable {
    const key = rightKey(user, right)
    const all = this.#lasting.get(key) ?? new Set()
    this.#lasting.set(key, all.add(onEnd))
    return {
      [Symbol.dispose]: () => {
        all.delete(onEnd)
        if (all.size === 0) this.#lasting.delete(key)
      },
    }
  }

  /** Call this when there is more to ask in advance. */
  checkSoon(): void {
    this.#wake.raise()
  }

  /** Checks the remembered rights from time to time while the control plane answers. */
  async run(signal: AbortSignal): Promise<never> {
    const { clock, random, link, inAdvance } = this.#deps
    const wake = this.#wake
    let checkedAtMs = -Infinity
    using _changes = link.onChange((isUp) => {
      if (!isUp) return
      checkedAtMs = -Infinity
      wake.raise()
    })
    for (;;) {
      using _timer = clock.setTimer(advanceMs * (0.9 + 0.2 * random.next()), wake.raise)
      await wake.wait(signal)
      if (!link.isUp) continue
      if (clock.monotonicMs() - checkedAtMs < checkMs) {
        // Pods and policies have come since.
        await this.#checkAll(inAdvance().filter(this.#isUnknown), signal)
        continue
      }
      checkedAtMs = clock.monotonicMs()
      const known = [...this.#confirmed].map(([key, user]) => ({ user, right: parseRightKey(key) }))
      await this.#checkAll([...known, ...inAdvance().filter(this.#isDue)], signal)
    }
  }

  readonly #isUnknown = ({ user, right }: UserAndRight): boolean =>
    this.#answers.get(rightKey(user, right)) === undefined

  readonly #isDue = ({ user, right, isRare }: UserAndRight): boolean => {
    const answer = this.#answers.get(rightKey(user, right))
    if (!isRare || !answer) return true
    // A right that was confirmed is among the known ones.
    const askedAtMs = answer.untilMs - refusedMs
    return !answer.isAllowed && this.#deps.clock.monotonicMs() - askedAtMs >= rareMs
  }

  async #checkAll(all: readonly UserAndRight[], signal: AbortSignal): Promise<void> {
    const { link, log } = this.#deps
    for (let at = 0; at < all.length && link.isUp; at += checksAtOnce) {
      const part = all.slice(at, at + checksAtOnce)
      try {
        await Promise.all(part.map((each) => this.#check(each, signal)))
      } catch (error) {
        signal.throwIfAborted()
        log.debug('Rights not checked', { error: asError(error) })
        link.suspect()
        return
      }
    }
  }

  async #check({ user, right }: UserAndRight, signal: AbortSignal): Promise<void> {
    if (await this.#ask(user, right, signal)) this.confirm(user, right)
    else this.refuse(user, right)
  }

  async #ask(user: UserInfo, right: AskedRight, signal: AbortSignal): Promise<boolean> {
    const review: SubjectAccessReview = {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      metadata: {},
      spec: reviewSpec(user, right),
    }
    const { cluster } = this.#deps
    const answer = await cluster.resource(resources.subjectAccessReviews).create(review, signal)
    return answer.status?.allowed === true
  }

  #makeRoom(): void {
    if (this.#confirmed.size < rightsMax) return
    const [oldest] = this.#confirmed
    if (oldest) this.#forget(oldest[0])
  }

  #forget(key: string): void {
    if (this.#confirmed.delete(key)) this.#deps.file.dropRight(key)
    for (const end of this.#lasting.get(key) ?? []) end()
  }
}

const nothing: AskedRight = Object.freeze({
  verb: '',
  group: '',
  resource: '',
  namespace: '',
  name: '',
  labelSelector: '',
  fieldSelector: '',
  path: '',
})

function reviewSpec(user: UserInfo, right: AskedRight): SubjectAccessReview['spec'] {
  const who = {
    user: user.name,
    groups: [...user.groups],
    ...(user.uid === undefined ? {} : { uid: user.uid }),
    extra: Object.fromEntries(
      Object.entries(user.extra).map(([key, values]) => [key, [...values]]),
    ),
  }
  const { verb, path, labelSelector, fieldSelector, ...resource } = right
  if (path !== '') return { ...who, nonResourceAttributes: { path, verb } }
  return {
    ...who,
    resourceAttributes: {
      ...resource,
      verb,
      ...(labelSelector === '' ? {} : { labelSelector: { rawSelector: labelSelector } }),
      ...(fieldSelector === '' ? {} : { fieldSelector: { rawSelector: fieldSelector } }),
    },
  }
}
