# NodeGroups label their nodes; a node is in one of them.
Show: nodes, nodegroups
Counts: vary
Quiet: 3s

### a group of a node, of one that does not exist, and of labels
create
  kind: Node
  metadata: {name: kg-1}
create
  kind: Node
  metadata: {name: kg-2, labels: {kg-hall: h1}}
create
  kind: NodeGroup
  metadata: {name: kg-a}
  spec: {nodes: [kg-1, kg-nosuch], matchLabels: {kg-hall: h1}}

### a label is removed by hand
patch nodes/kg-1 {metadata: {labels: {apps.kubeedge.io/belonging-to: null}}}

### a second group wants a node of the first
create
  kind: NodeGroup
  metadata: {name: kg-b}
  spec: {nodes: [kg-2]}

### a node gets the label of the group
create
  kind: Node
  metadata: {name: kg-3}
patch nodes/kg-3 {metadata: {labels: {kg-hall: h1}}}

### the second group goes
delete nodegroups/kg-b

### the first group goes
delete nodegroups/kg-a
