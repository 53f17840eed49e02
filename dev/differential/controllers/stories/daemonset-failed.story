# A daemon that failed is deleted and made again.

### one fails
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
    minReadySeconds: 10
    selector: {matchLabels: {app: web}}
    template:
      metadata: {labels: {app: web}}
      spec: {nodeSelector: {story: ${ns}}, containers: [{name: main, image: "a:1"}]}
bind own
run
fail 1

### it has ended
gone

### available later
run
wait daemonsets/web status.numberAvailable = 2
