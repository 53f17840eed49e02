import { isStatusError, type AnyObject, type APIService } from '@skerry/api'
import { apiServices } from '../aggregation/local-registrations.ts'
import type { Objects } from '../contract/objects.ts'
import { getTyped } from '../contract/typed-objects.ts'
import { metricsGroup, metricsVersion } from './metrics-documents-table.ts'
import { metricsApiServiceName } from './metrics-api.ts'

/**
 * Creates the APIService of the metrics API if it is missing, and removes it if the API is off. An
 * APIService that names a service belongs to the operator of that service and is left alone.
 */
export async function ensureMetricsApiService(objects: Objects, isOn: boolean): Promise<void> {
  const current = getTyped<APIService>(objects, apiServices, { name: metricsApiServiceName })
  try {
    if (isOn && !current) await objects.create(apiServices, metricsApiService())
    const isOurs = current !== undefined && current.spec?.service === undefined
    if (!isOn && isOurs) await objects.delete(apiServices, '', metricsApiServiceName)
  } catch (error) {
    if (!isStatusError(error, 'AlreadyExists') && !isStatusError(error, 'NotFound')) throw error
  }
}

/** The priorities are those of metrics-server's own. */
function metricsApiService(): AnyObject {
  return {
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    metadata: { name: metricsApiServiceName },
    spec: {
      group: metricsGroup,
      version: metricsVersion,
      groupPriorityMinimum: 100,
      versionPriority: 100,
    },
  }
}
