# A NodeUnit that finds its nodes by their labels.
Show: nodes, nodeunits
Counts: vary
Quiet: 4s

### a unit of labels
create
  kind: Node
  metadata: {name: us-1, labels: {us-hall: h1}}
create
  kind: Node
  metadata: {name: us-2}
create
  kind: NodeUnit
  metadata: {name: us-a}
  spec:
    type: edge
    selector: {matchLabels: {us-hall: h1}}
    setNode: {labels: {floor: f1}}

### a node gets the label
patch nodes/us-2 {metadata: {labels: {us-hall: h1}}}

### a node loses it
patch nodes/us-1 {metadata: {labels: {us-hall: null}}}

### the unit goes
delete nodeunits/us-a
