# Each value of a label has a StatefulSet of its own.
Show: statefulsets, statefulsetgrids
Counts: vary
Quiet: 1500ms

### a grid over two values
create
  kind: Node
  metadata: {name: gs-1, labels: {gs: shanghai}}
create
  kind: Node
  metadata: {name: gs-2, labels: {gs: beijing}}
create
  kind: StatefulSetGrid
  metadata: {name: pg}
  spec:
    gridUniqKey: gs
    groupPolicy: {vanishedGraceSeconds: 0}
    template:
      replicas: 1
      serviceName: pg-svc
      selector: {matchLabels: {app: pg}}
      template:
        metadata: {labels: {app: pg}}
        spec:
          containers: [{name: c, image: "pg:1"}]
evolve

### another image for all
patch statefulsetgrids/pg {spec: {template: {template: {spec: {containers: [{name: c, image: "pg:2"}]}}}}}
evolve

### a value goes
patch nodes/gs-2 {metadata: {labels: {gs: null}}}
evolve
