# Nodes that come, go, change their labels and get taints.
Quiet: 1500ms

### two nodes
create
  kind: Node
  metadata: {name: ${ns}-1, labels: {story: ${ns}}}
  ---
  kind: Node
  metadata: {name: ${ns}-2, labels: {story: ${ns}, disk: ssd}}
patch nodes/${ns}-1/status {status: {conditions: [{type: Ready, status: "True", reason: KubeletReady}]}}
patch nodes/${ns}-2/status {status: {conditions: [{type: Ready, status: "True", reason: KubeletReady}]}}
create
  kind: DaemonSet
  metadata: {name: web}
  spec:
    selector: {matchLabels: {app: web}}
    template:
      metadata: {labels: {app: web}}
      spec: {nodeSelector: {story: ${ns}}, containers: [{name: main, image: "a:1"}]}
bind own
run

### a third
create
  kind: Node
  metadata: {name: ${ns}-3, labels: {story: ${ns}}}

### its taint for all but daemons
patch nodes/${ns}-3 {spec: {unschedulable: true}}

### a taint that is not tolerated
patch nodes/${ns}-1 {spec: {taints: [{key: own, effect: NoSchedule}]}}

### one that makes pods go
patch nodes/${ns}-1 {spec: {taints: [{key: own, effect: NoExecute}]}}
settle
gone

### a node is selected no more
patch nodes/${ns}-2 {metadata: {labels: {story: other}}}
gone

### a node goes
delete nodes/${ns}-3
gone
