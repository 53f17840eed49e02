# Each value of a label has a Deployment of its own; values come and go.
Show: deployments, deploymentgrids
Counts: vary
Quiet: 1500ms

### a grid over two values
create
  kind: Node
  metadata: {name: gu-1, labels: {gu: shanghai}}
create
  kind: Node
  metadata: {name: gu-2, labels: {gu: shanghai}}
create
  kind: Node
  metadata: {name: gu-3, labels: {gu: beijing}}
create
  kind: DeploymentGrid
  metadata: {name: web, labels: {team: a}, annotations: {note: hello}}
  spec:
    gridUniqKey: gu
    groupPolicy: {vanishedGraceSeconds: 0}
    template:
      replicas: 2
      selector: {matchLabels: {app: web}}
      template:
        metadata: {labels: {app: web}}
        spec:
          initContainers: [{name: i, image: "busybox:1"}]
          containers: [{name: c, image: "nginx:1.25"}]

### the pods run
evolve

### a node gets a new value
create
  kind: Node
  metadata: {name: gu-4, labels: {gu: tianjin}}

### the last node of a value loses it
patch nodes/gu-3 {metadata: {labels: {gu: null}}}
evolve

### a node with a value that is no name
create
  kind: Node
  metadata: {name: gu-5, labels: {gu: North.Hall_1}}
