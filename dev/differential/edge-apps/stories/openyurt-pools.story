# NodePools set labels, annotations and taints on the nodes that join them.
Show: nodes, nodepools
Counts: vary
Quiet: 3s

### a pool, and a node that names it
create
  kind: NodePool
  metadata: {name: yp-a}
  spec:
    type: Edge
    labels: {np: a}
    annotations: {who: yp-a}
    taints: [{key: np, value: a, effect: PreferNoSchedule}]
create
  kind: Node
  metadata: {name: yp-1, labels: {own: x, apps.openyurt.io/nodepool: yp-a}}

### a label of the pool is changed by hand on the node
patch nodes/yp-1 {metadata: {labels: {np: by-hand}}}

### the pool changes
patch nodepools/yp-a {spec: {labels: {np: null, np2: b}, taints: []}}

### a node without a pool joins
create
  kind: Node
  metadata: {name: yp-2, labels: {own: y}}
patch nodes/yp-2 {metadata: {labels: {apps.openyurt.io/nodepool: yp-a}}}

### the node goes
delete nodes/yp-2
