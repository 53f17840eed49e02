import type { Classify } from '@skerry/tunnel'

/** A body that says it is longer than this is bulk from its first byte. */
const bulkBodyBytes = 65_536
const apiPath = /^\/(apis?|openapi|version|healthz|livez|readyz)([/?]|$)/
const podLogPath = /^\/api\/v1\/namespaces\/[^/]+\/pods\/[^/]+\/log(\?|$)/
/** What is behind the API server sends what it likes. */
const proxyPath = /^\/api\/v1\/(namespaces\/[^/]+\/(pods|services)|nodes)\/[^/]+\/proxy([/?]|$)/
const isWatch = /[?&]watch=(1|true)(&|$)/

/**
 * Of which class a request to a cluster's API is. Sessions are interactive, logs are logs; what goes
 * to services, and what is announced as large, is bulk; the rest is control until it moves as much as bulk.
 */
export const classifyRequest: Classify = ({ path, headers }, isUpgrade) => {
  if (!apiPath.test(path) || proxyPath.test(path)) return 'bulk'
  if (isUpgrade) return isWatch.test(path) ? 'control' : 'interactive'
  if (podLogPath.test(path)) return 'logs'
  return Number(headers['content-length'] ?? 0) > bulkBodyBytes ? 'bulk' : 'control'
}
