# NodeGroups of SuperEdge take units by name and by label, and make units of nodes' labels.
Show: nodes, nodeunits, nodegroups
Counts: vary
Quiet: 4s

### a group of a named unit and of units with a label
create
  kind: Node
  metadata: {name: ug-1}
create
  kind: Node
  metadata: {name: ug-2}
create
  kind: NodeUnit
  metadata: {name: ug-a}
  spec: {type: edge, nodes: [ug-1]}
create
  kind: NodeUnit
  metadata: {name: ug-b, labels: {ug-kind: hall}}
  spec: {type: edge, nodes: [ug-2]}
create
  kind: NodeGroup
  metadata: {name: ug-group}
  spec: {nodeUnits: [ug-a, ug-nosuch], selector: {matchLabels: {ug-kind: hall}}}

### a unit leaves the group
patch nodeunits/ug-b {metadata: {labels: {ug-kind: null}}}

### a group that makes units of the labels of nodes
create
  kind: Node
  metadata: {name: ug-3, labels: {ug-room: a, ug-region: south}}
create
  kind: NodeGroup
  metadata: {name: ug-found}
  spec: {autoFindNodeKeys: [ug-room, ug-region]}
adopt nodeunits/south-a

### the groups go
delete nodegroups/ug-group
delete nodegroups/ug-found
