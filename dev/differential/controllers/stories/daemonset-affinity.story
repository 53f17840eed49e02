# Node affinity and a name in the template choose nodes.
Quiet: 1500ms

### one of two
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
      spec:
        hostNetwork: true
        nodeSelector: {story: ${ns}}
        affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: disk, operator: In, values: [ssd]}]}]}}}
        containers: [{name: main, image: "a:1"}]
bind own
run

### the other one gets the label
patch nodes/${ns}-1 {metadata: {labels: {disk: ssd}}}
run

### it is deleted
delete daemonsets/web Foreground
settle
gone
wait daemonsets/web gone
