# No pods, every pod, and a budget that changes its selector.
Show: poddisruptionbudgets, events
Counts: vary

### every pod
create
  kind: PodDisruptionBudget
  metadata: {name: all}
  spec: {minAvailable: 0, selector: {}}
create
  kind: Pod
  metadata: {name: a, labels: {app: a}}
  spec:
    tolerations: [{operator: Exists}]
    nodeName: n1
    containers: [{name: main, image: "a:1"}]
create
  kind: Pod
  metadata: {name: b, labels: {app: b}}
  spec:
    tolerations: [{operator: Exists}]
    nodeName: n1
    containers: [{name: main, image: "a:1"}]
run

### some
patch poddisruptionbudgets/all {spec: {selector: {matchLabels: {app: a}}}}

### unhealthy ones may go
patch poddisruptionbudgets/all {spec: {unhealthyPodEvictionPolicy: AlwaysAllow}}
