import type { ApiResource } from '@skerry/discovery'
import type { ApiAnswer } from '../contract/exchange.ts'
import type { AuthorizedRequest } from '../contract/authorized-request.ts'
import type { UpgradeSocket } from '../contract/subresource.ts'

/** Serves one group version in place of the registry. */
export interface AggregatedApi {
  serve(admitted: AuthorizedRequest): Promise<ApiAnswer>
  upgrade(admitted: AuthorizedRequest, client: UpgradeSocket): Promise<void>
}

/**
 * A group version that this process serves without storing its objects, e.g. metrics.k8s.io. It is
 * announced and served while its APIService exists and names no service. An APIService that names a
 * service takes over the group version.
 */
export interface LocalApi {
  readonly group: string
  readonly version: string
  readonly resources: readonly ApiResource[]
  /** The document of GET /openapi/v3/apis/<group>/<version>. */
  readonly openApiV3: () => object
  /** The API's part of GET /openapi/v2. */
  readonly openApiV2: () => OpenApiV2Part
  readonly serve: (admitted: AuthorizedRequest) => Promise<ApiAnswer>
  /** Background work in addition to serving, until the signal aborts. */
  readonly run?: (signal: AbortSignal) => Promise<void>
}

export interface OpenApiV2Part {
  readonly paths: Readonly<Record<string, unknown>>
  readonly definitions: Readonly<Record<string, unknown>>
}
