# A node's conditions and its cordon become taints.
Show: nodes, events
Quiet: 1s
Alone: yes

### it is ready
create
  kind: Node
  metadata: {name: conditions-a, labels: {story: conditions}}
patch nodes/conditions-a/status {status: {conditions: [{type: Ready, status: "True", reason: KubeletReady, lastHeartbeatTime: "2026-01-01T00:00:00Z", lastTransitionTime: "2026-01-01T00:00:00Z"}]}}

### cordoned
patch nodes/conditions-a {spec: {unschedulable: true}}

### short of memory and disk
patch nodes/conditions-a {spec: {unschedulable: null}}
patch nodes/conditions-a/status {status: {conditions: [{type: Ready, status: "True", reason: KubeletReady}, {type: MemoryPressure, status: "True"}, {type: DiskPressure, status: "True"}, {type: PIDPressure, status: "True"}, {type: NetworkUnavailable, status: "True"}]}}

### well again
patch nodes/conditions-a/status {status: {conditions: [{type: Ready, status: "True", reason: KubeletReady}, {type: MemoryPressure, status: "False"}]}}

### not ready
create
  kind: Node
  metadata: {name: conditions-b, labels: {story: conditions}}
patch nodes/conditions-b/status {status: {conditions: [{type: Ready, status: "True", reason: KubeletReady}]}}
patch nodes/conditions-a/status {status: {conditions: [{type: Ready, status: "False", reason: KubeletNotReady}]}}
wait nodes/conditions-a spec.taints.1.effect

### somebody's taint stays
patch nodes/conditions-a {spec: {taints: [{key: mine, effect: NoSchedule}]}}
