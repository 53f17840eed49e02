import type { AuthorizedRequest } from './authorized-request.ts'
import type { ApiAnswer } from './exchange.ts'
import type { RequestAttributes } from './request-attributes.ts'
import type { RequestInfo } from './request-info.ts'
import type { UpgradeClient } from './subresource.ts'

/** A path prefix that somebody else serves, e.g. `/clusters/`. */
export interface Route {
  readonly prefix: string
  /** Of the paths below the prefix only these; absent: all. */
  matches?(info: RequestInfo): boolean
  /** True where answers are pages of somebody else, which ask for more below this path. */
  readonly servesPages?: boolean
  /** What the authorizers are asked, in place of the path itself. May refuse with a StatusError. */
  attributes?(info: RequestInfo, target: string): RequestAttributes
  serve(admitted: AuthorizedRequest): Promise<ApiAnswer>
  upgrade?(admitted: AuthorizedRequest, client: UpgradeClient): Promise<void>
}
