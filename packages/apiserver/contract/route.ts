import type { AuthorizedRequest } from './authorized-request.ts'
import type { ApiAnswer } from './exchange.ts'
import type { RequestAttributes } from './request-attributes.ts'
import type { RequestInfo } from './request-info.ts'
import type { UpgradeClient } from './subresource.ts'

/** A path prefix with its own handler, e.g. `/clusters/`. */
export interface Route {
  readonly prefix: string
  /** Returns true for the paths below the prefix that belong to this route. If omitted, all do. */
  matches?(info: RequestInfo): boolean
  /** True if answers are pages of another program, which load more from below this path. */
  readonly servesPages?: boolean
  /** Returns what the authorizers are asked, instead of the path itself. May refuse with a StatusError. */
  attributes?(info: RequestInfo, target: string): RequestAttributes
  serve(admitted: AuthorizedRequest): Promise<ApiAnswer>
  upgrade?(admitted: AuthorizedRequest, client: UpgradeClient): Promise<void>
}
