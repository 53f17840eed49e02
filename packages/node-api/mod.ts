/**
 * node-api: the Kubernetes API on a node. While the control plane answers, requests pass to it with the caller's own
 * token; lists and watches that readers of the node share are served from copies. While it is away, reads are
 * answered from the copies for callers who could read the same before, and everything else is refused with the reason.
 * It accepts no write of its own and gives nobody a right.
 * Start reading at local-api.ts, then answers/node-answers.ts (which way a request goes) and copies/copy-set.ts.
 */
export { createLocalApi } from './local-api.ts'
export type { KeptScope } from './copies/kept-scope.ts'
