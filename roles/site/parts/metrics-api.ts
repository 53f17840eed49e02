import { createMetricsApi, ensureMetricsApiService } from '@skerry/apiserver'
import type { SitePart } from '../contract/site-part.ts'

export interface MetricsApiOptions {
  /** True leaves metrics.k8s.io to a metrics-server. */
  isDisabled?: boolean | undefined
}

/** Serves metrics.k8s.io, unless a metrics-server does. */
export function metricsApi({ isDisabled = false }: MetricsApiOptions): SitePart {
  return {
    localApis: ({ objects, dial, context }) =>
      dial ? [createMetricsApi({ ...context, objects, dial })] : [],
    async tasks({ objects }) {
      await ensureMetricsApiService(objects, !isDisabled)
      return []
    },
  }
}
