# Endpoints of a service follow its pods: readiness, addresses, deletion, selector.
Counts: vary
Show: endpoints, endpointslices, events

### a service without pods
create
  kind: Node
  metadata: {name: es-n1, labels: {story: endpoints}}
create
  kind: Node
  metadata: {name: es-n2, labels: {story: endpoints}}
create
  kind: Service
  metadata: {name: web, labels: {team: a}, annotations: {note: x}}
  spec: {selector: {app: web}, ports: [{port: 80, targetPort: 8080}]}

### two pods, one is ready
create
  kind: Pod
  metadata: {name: web-a, labels: {app: web}}
  spec:
    tolerations: [{operator: Exists}]
    nodeName: es-n1
    containers: [{name: main, image: "a:1"}]
create
  kind: Pod
  metadata: {name: web-b, labels: {app: web}}
  spec:
    tolerations: [{operator: Exists}]
    nodeName: es-n2
    containers: [{name: main, image: "a:1"}]
patch pods/web-a/status {status: {podIP: 10.1.0.4, podIPs: [{ip: 10.1.0.4}]}}
settle
patch pods/web-b/status {status: {podIP: 10.1.0.5, podIPs: [{ip: 10.1.0.5}]}}
settle
run web-a
start web-b

### both are
run web-b

### one is not any more
unready web-a

### labels of the service change
patch services/web {metadata: {labels: {team: b, tier: front}}}

### the selector changes
patch services/web {spec: {selector: {app: other}}}

### and back, a pod ends
patch services/web {spec: {selector: {app: web}}}
succeed web-b

### the service goes
delete services/web
