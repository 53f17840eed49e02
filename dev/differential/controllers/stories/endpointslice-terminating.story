# Pods on their way out: still serving, then not.
Counts: vary
Show: endpoints, endpointslices, events

### two pods
create
  kind: Node
  metadata: {name: et-n1, labels: {story: endpoints}}
create
  kind: Node
  metadata: {name: et-n2, labels: {story: endpoints}}
create
  kind: Service
  metadata: {name: web}
  spec: {selector: {app: web}, ports: [{port: 80}]}
create
  kind: Pod
  metadata: {name: web-a, labels: {app: web}}
  spec:
    tolerations: [{operator: Exists}]
    nodeName: et-n1
    containers: [{name: main, image: "a:1"}]
create
  kind: Pod
  metadata: {name: web-b, labels: {app: web}}
  spec:
    tolerations: [{operator: Exists}]
    nodeName: et-n1
    containers: [{name: main, image: "a:1"}]
patch pods/web-a/status {status: {podIP: 10.1.3.4, podIPs: [{ip: 10.1.3.4}]}}
settle
patch pods/web-b/status {status: {podIP: 10.1.3.5, podIPs: [{ip: 10.1.3.5}]}}
settle
run

### one is deleted
delete pods/web-a

### the other is, too
delete pods/web-b

### they are gone
gone
