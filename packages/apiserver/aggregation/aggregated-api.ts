import type { ApiResource } from '@skerry/api'
import type { ApiAnswer } from '../http/exchange.ts'
import type { Admitted } from '../pipeline.ts'
import type { UpgradeSocket } from '../subresource.ts'

/** Serves one group version in place of the registry. */
export interface AggregatedApi {
  serve(admitted: Admitted): Promise<ApiAnswer>
  upgrade(admitted: Admitted, client: UpgradeSocket): Promise<void>
}

/**
 * A group version that this process serves without storing its objects, e.g. metrics.k8s.io. It is
 * announced and served while its APIService stands and names no service; one that names a service
 * takes the group version over.
 */
export interface LocalApi {
  readonly group: string
  readonly version: string
  readonly resources: readonly ApiResource[]
  /** The document of GET /openapi/v3/apis/<group>/<version>. */
  readonly openApiV3: () => object
  /** Its part of GET /openapi/v2. */
  readonly openApiV2: () => OpenApiV2Part
  readonly serve: (admitted: Admitted) => Promise<ApiAnswer>
  /** What it does beside serving, until the signal aborts. */
  readonly run?: (signal: AbortSignal) => Promise<void>
}

export interface OpenApiV2Part {
  readonly paths: Readonly<Record<string, unknown>>
  readonly definitions: Readonly<Record<string, unknown>>
}
