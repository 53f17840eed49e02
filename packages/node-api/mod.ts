/**
 * node-api: the Kubernetes API on a node. While the control plane answers, requests pass to it with the caller's own
 * token; lists and watches that readers of the node share are served from copies. While it is away, reads are
 * answered from the copies for callers who could read the same before, writes that a policy of the site permits go
 * into a journal, logs and sessions of its pods are served, tokens are signed for them, and everything else is refused
 * with the reason. When the control plane answers again, it gets the journal. This node gives nobody a right.
 * Start reading at local-api.ts, then answers/node-answers.ts (which way a request goes), copies/copy-set.ts, and
 * writes/plan-replay.ts (how a write of the node becomes one of the control plane).
 */
export { offlineKinds } from './kinds/offline-kinds.ts'
export { createAcceptedMark } from './writes/accepted-mark.ts'
export { conflictResource, type Conflict, type ConflictSide } from './kinds/conflict.ts'
export { planChoice } from './writes/plan-choice.ts'
export { createLocalApi } from './local-api.ts'
export type { KeptScope } from './copies/kept-scope.ts'
export type { LocalNode } from './access/local-node.ts'
