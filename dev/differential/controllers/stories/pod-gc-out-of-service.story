# Pods that end on a node that is out of service.
Show: nodes, pods, events
Quiet: 1s

### a node that is not ready
create
  kind: Node
  metadata: {name: service-a, labels: {story: service}}
  spec: {taints: [{key: node.kubernetes.io/out-of-service, effect: NoExecute}]}
settle
patch nodes/service-a/status {status: {conditions: [{type: Ready, status: "False"}]}}
create
  kind: Pod
  metadata: {name: web, labels: {app: a}}
  spec:
    tolerations: [{operator: Exists}]
    nodeName: service-a
    containers: [{name: main, image: "a:1"}]
run web

### the pod is deleted
delete pods/web
wait pods/web gone
