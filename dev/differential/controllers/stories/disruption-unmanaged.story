# Pods that nobody controls, and controllers that cannot be scaled.
Show: poddisruptionbudgets, pods, events
Counts: vary

### a number
create
  kind: PodDisruptionBudget
  metadata: {name: bare}
  spec: {minAvailable: 1, selector: {matchLabels: {app: bare}}}
create
  kind: Pod
  metadata: {name: bare-a, labels: {app: bare}}
  spec:
    tolerations: [{operator: Exists}]
    nodeName: n1
    containers: [{name: main, image: "a:1"}]
create
  kind: Pod
  metadata: {name: bare-b, labels: {app: bare}}
  spec:
    tolerations: [{operator: Exists}]
    nodeName: n1
    containers: [{name: main, image: "a:1"}]
run

### one is labelled away
patch pods/bare-b {metadata: {labels: {app: other}}}

### it comes back
patch pods/bare-b {metadata: {labels: {app: bare}}}

### a share
patch poddisruptionbudgets/bare {spec: {minAvailable: 50%}}

### at most so many
patch poddisruptionbudgets/bare {spec: {minAvailable: null, maxUnavailable: 1}}

### of a daemon set's or job's pods
create
  kind: Job
  metadata: {name: work}
  spec:
    parallelism: 2
    completions: 2
    template:
      metadata: {labels: {app: bare}}
      spec: {restartPolicy: Never, containers: [{name: main, image: "a:1"}]}
