import type { AnyObject, StrategyContext } from '@skerry/api'
import type { Steps } from '@skerry/bodies'
import type { Clock, Logger, Random, Span } from '@skerry/base'
import type { Store } from '@skerry/store'
import { newUid } from '../contract/uid.ts'
import type { UserInfo } from '../contract/access.ts'
import type { AdmissionPlugin, Annotate } from '../contract/admission.ts'
import type { WatchCache } from '../cache/watch-cache.ts'
import type { BodyShare } from '../contract/body-share.ts'
import type { ApiServerLimits } from '../limits-table.ts'
import type { Interceptor } from './interceptor.ts'
import type { KindReader } from './kind-reader.ts'
import type { LeasePool } from './lease-pool.ts'
import type { ServedKinds } from './served-kinds.ts'
import type { YamlReader } from '../yaml/yaml-reader.ts'

/** The dependencies of the registry. */
export interface RegistryDeps {
  readonly store: Store
  readonly cache: WatchCache
  readonly kinds: ServedKinds
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  readonly limits: ApiServerLimits
  readonly yaml: YamlReader
  readonly admission: readonly AdmissionPlugin[]
  /** Interceptors by storage key, e.g. core/services. */
  readonly interceptors: Readonly<Record<string, Interceptor>>
  readonly leases: LeasePool
  /** Resolves to true if a write of the same value would be stored differently, e.g. with a newer key. */
  readonly isStale?: ((key: string) => Promise<boolean>) | undefined
}

/** The part of them that serves requests which store nothing. */
export type RequestDeps = Omit<RegistryDeps, 'store' | 'cache' | 'leases'>

/** One request as the registry sees it: authorized, with a known kind and valid options. */
export interface RequestScope {
  readonly reader: KindReader
  readonly namespace: string
  readonly name: string
  readonly subresource: string
  readonly user: UserInfo
  readonly isDryRun: boolean
  /** The manager's name for managedFields, from the fieldManager parameter or the user agent. */
  readonly fieldManager: string
  readonly fieldValidation: FieldValidation
  readonly warn: (text: string) => void
  /** Throws Forbidden unless the user may also use this verb. The server itself may do everything. */
  readonly requireVerb: (verb: string) => Promise<void>
  /** Adds an annotation to the request's audit event. Omitted if there is none. */
  readonly annotate?: Annotate
  /** The request's span. Omitted if nothing is traced. */
  readonly trace?: Span
  /** True for the server's own writes, which skip webhooks and policies. */
  readonly isInternal?: boolean
  /** True if the caller is in this process and reads at once. */
  readonly isReadHere?: boolean
  readonly signal: AbortSignal
  /** Omitted for the server's own requests, which never wait for others. */
  readonly pace?: Pace | undefined
  /** The CreateOptions, UpdateOptions, … for admission. */
  readonly options: AnyObject | undefined
}

/** Lets an expensive request yield to others. */
export type Pace = Pick<BodyShare, 'isLarge' | 'pause' | 'untilItsTurn'>

/** Runs the steps. Serves others between them if the request is large. */
export async function paced<T>(steps: Steps<T>, { pace }: Pick<RequestScope, 'pace'>): Promise<T> {
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
    const others = pace?.pause()
    if (others) await others
  }
}

export type FieldValidation = 'Ignore' | 'Warn' | 'Strict'

/** Returns the key below the resource. */
export function objectKey(scope: RequestScope, name = scope.name): string {
  return scope.reader.kind.isNamespaced ? `${scope.namespace}/${name}` : name
}

export function strategyContext(scope: RequestScope, deps: RegistryDeps): StrategyContext {
  const { user } = scope
  return {
    nowMs: deps.clock.now(),
    newUid: () => newUid(deps.random),
    warn: scope.warn,
    user: user.name,
    userGroups: user.groups,
    userExtra: user.extra,
    ...(user.uid === undefined ? {} : { userUid: user.uid }),
  }
}

/** Upstream's alphabet: no vowels and no look-alikes, so that no word comes out. */
const suffixAlphabet = 'bcdfghjklmnpqrstvwxz2456789'

export function nameSuffix(random: Random): string {
  let text = ''
  for (let at = 0; at < 5; at += 1) {
    text += suffixAlphabet[Math.floor(random.next() * suffixAlphabet.length)]
  }
  return text
}

/** Formats a metav1.Time, in whole seconds. */
export function timeText(nowMs: number): string {
  return `${new Date(nowMs).toISOString().slice(0, 19)}Z`
}
