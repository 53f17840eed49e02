import type { Classify } from '@skerry/tunnel'
import { gatewayBounds } from '../limits-table.ts'

const { bulkBodyBytes } = gatewayBounds.classifyRequest
const apiPath = /^\/(apis?|openapi|version|healthz|livez|readyz)([/?]|$)/
const podLogPath = /^\/api\/v1\/namespaces\/[^/]+\/pods\/[^/]+\/log(\?|$)/
/** Programs behind the API server send arbitrary traffic. */
const proxyPath = /^\/api\/v1\/(namespaces\/[^/]+\/(pods|services)|nodes)\/[^/]+\/proxy([/?]|$)/
const isWatch = /[?&]watch=(1|true)(&|$)/

/**
 * Returns the class of a request to a cluster's API. Sessions are interactive, logs are logs; requests to
 * services, and those with a large declared body, are bulk; the rest is control until it moves as much as
 * bulk.
 */
export const classifyRequest: Classify = ({ path, headers }, isUpgrade) => {
  if (!apiPath.test(path) || proxyPath.test(path)) return 'bulk'
  if (isUpgrade) return isWatch.test(path) ? 'control' : 'interactive'
  if (podLogPath.test(path)) return 'logs'
  return Number(headers['content-length'] ?? 0) > bulkBodyBytes ? 'bulk' : 'control'
}
