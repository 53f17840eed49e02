# One pod for each node that is selected; an update replaces it.

### one of two nodes
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
      spec: {nodeSelector: {story: ${ns}, disk: ssd}, containers: [{name: main, image: "a:1"}]}
bind own
run

### a new image
patch daemonsets/web {spec: {template: {spec: {containers: [{name: main, image: "a:2"}]}}}}

### the old one has ended, the new one runs
gone 1
bind own
run 1

### all
evolve

### back
patch daemonsets/web {spec: {template: {spec: {containers: [{name: main, image: "a:1"}]}}}}
evolve
