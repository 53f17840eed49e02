# A NodeUnit of named nodes sets labels, annotations and taints on them, and takes them back.
Show: nodes, nodeunits
Counts: vary
Quiet: 4s

### a unit of a node that exists, and of one that does not
create
  kind: Node
  metadata: {name: un-1, labels: {own: x}}
create
  kind: Node
  metadata: {name: un-2}
create
  kind: NodeUnit
  metadata: {name: un-a}
  spec:
    type: edge
    nodes: [un-1, un-nosuch]
    setNode:
      labels: {hall: h1}
      annotations: {who: un-a}
      taints: [{key: un, value: a, effect: PreferNoSchedule}]

### labels of the unit are removed by hand
patch nodes/un-1 {metadata: {labels: {un-a: null, hall: null}}}

### the unit sets another label
patch nodeunits/un-a {spec: {setNode: {labels: {hall: null, floor: f1}}}}

### another node takes the place of the first
patch nodeunits/un-a {spec: {nodes: [un-2]}}

### the unit goes
delete nodeunits/un-a
