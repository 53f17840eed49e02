/**
 * edge-apps: applications that run in many places of one cluster, by the kinds of other systems. One engine makes the
 * children of each group of nodes; a system's kinds are a thin layer over it. It uses only the API, through client, so
 * that it also runs against upstream Kubernetes. It directs no traffic: traffic/ asks the proxies of other clusters to.
 * groups/ finds the places of an application, and nodes/ gives nodes the settings of the sets that they are in. levels/
 * plans how a unit becomes a cluster of its own and comes back, and reports what keeps it from that.
 * Start reading at children/child-plan.ts, then superedge/grid-children.ts.
 */
export { runEdgeApps } from './run-edge-apps.ts'
export { runServiceTraffic } from './traffic/service-traffic-controller.ts'
export { removeEdgeApps } from './definitions/install-definitions.ts'
export { explainApplication } from './explain/explain-application.ts'
export { explainChild, type ChildExplanation } from './explain/explain-child.ts'
export { definitionOf, type DefinedKind } from './definitions/definition.ts'
export { edgeSystems } from './edge-systems-table.ts'
export {
  firstRecords,
  planHandover,
  type NodeRecord,
  type ParentRecord,
  type UnitRecord,
} from './levels/handover.ts'
export type { TakeResult, UnitActs, UnitMaster, UnitServing } from './levels/unit-acts.ts'
export { insufficient, type UnitFault } from './levels/unit-faults.ts'
