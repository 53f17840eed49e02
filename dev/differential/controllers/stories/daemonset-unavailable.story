# An update that allows a third to be away, in percent: the pod that is not ready goes first.

### three nodes
create
  kind: Node
  metadata: {name: ${ns}-1, labels: {story: ${ns}}}
  ---
  kind: Node
  metadata: {name: ${ns}-2, labels: {story: ${ns}, disk: ssd}}
patch nodes/${ns}-1/status {status: {conditions: [{type: Ready, status: "True", reason: KubeletReady}]}}
patch nodes/${ns}-2/status {status: {conditions: [{type: Ready, status: "True", reason: KubeletReady}]}}
create
  kind: Node
  metadata: {name: ${ns}-3, labels: {story: ${ns}}}
create
  kind: DaemonSet
  metadata: {name: web}
  spec:
    updateStrategy: {rollingUpdate: {maxUnavailable: "33%"}}
    selector: {matchLabels: {app: web}}
    template:
      metadata: {labels: {app: web}}
      spec: {nodeSelector: {story: ${ns}}, containers: [{name: main, image: "a:1"}]}
bind own
run 2

### a new image
patch daemonsets/web {spec: {template: {spec: {containers: [{name: main, image: "a:2"}]}}}}

### the rest
evolve
