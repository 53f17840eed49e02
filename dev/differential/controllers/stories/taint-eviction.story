# Pods that do not tolerate a taint go, at once or after the time that they do.
Show: nodes, pods, events
Quiet: 1s

### pods on a node
create
  kind: Node
  metadata: {name: evict-a, labels: {story: evict}}
patch nodes/evict-a/status {status: {conditions: [{type: Ready, status: "True"}]}}
create
  kind: Pod
  metadata: {name: plain}
  spec: {nodeName: evict-a, containers: [{name: main, image: "a:1"}]}
  ---
  kind: Pod
  metadata: {name: patient}
  spec: {nodeName: evict-a, tolerations: [{key: fire, operator: Exists, tolerationSeconds: 3, effect: NoExecute}], containers: [{name: main, image: "a:1"}]}
  ---
  kind: Pod
  metadata: {name: brave}
  spec: {nodeName: evict-a, tolerations: [{key: fire, operator: Exists}], containers: [{name: main, image: "a:1"}]}
run

### a taint
patch nodes/evict-a {spec: {taints: [{key: fire, value: hot, effect: NoExecute}]}}
wait pods/plain metadata.deletionTimestamp

### three seconds later
wait pods/patient metadata.deletionTimestamp

### taken back in time
gone
create
  kind: Pod
  metadata: {name: lucky}
  spec: {nodeName: evict-a, tolerations: [{key: fire, operator: Exists, tolerationSeconds: 60, effect: NoExecute}], containers: [{name: main, image: "a:1"}]}
settle
patch nodes/evict-a {spec: {taints: null}}
