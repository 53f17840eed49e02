# Ports by number and by name, of several protocols, and pods that name them differently.
Counts: vary
Quiet: 1500ms
Show: endpoints, endpointslices, events

### pods with named ports
create
  kind: Node
  metadata: {name: ep-n1, labels: {story: endpoints}}
create
  kind: Node
  metadata: {name: ep-n2, labels: {story: endpoints}}
create
  kind: Service
  metadata: {name: web}
  spec:
    selector: {app: web}
    ports:
    - {name: http, port: 80, targetPort: web}
    - {name: admin, port: 81, targetPort: absent, appProtocol: kubernetes.io/h2c}
create
  kind: Pod
  metadata: {name: web-a, labels: {app: web}}
  spec:
    tolerations: [{operator: Exists}]
    nodeName: ep-n1
    containers: [{name: main, image: "a:1", ports: [{name: web, containerPort: 8080}]}]
create
  kind: Pod
  metadata: {name: web-b, labels: {app: web}}
  spec:
    tolerations: [{operator: Exists}]
    nodeName: ep-n1
    containers: [{name: main, image: "a:1", ports: [{name: web, containerPort: 9090}]}]
create
  kind: Pod
  metadata: {name: web-c, labels: {app: web}}
  spec:
    tolerations: [{operator: Exists}]
    nodeName: ep-n1
    containers: [{name: main, image: "a:1"}]
patch pods/web-a/status {status: {podIP: 10.1.1.4, podIPs: [{ip: 10.1.1.4}]}}
settle
patch pods/web-b/status {status: {podIP: 10.1.1.5, podIPs: [{ip: 10.1.1.5}]}}
settle
patch pods/web-c/status {status: {podIP: 10.1.1.6, podIPs: [{ip: 10.1.1.6}]}}
settle
run

### a port that nobody has goes
patch services/web {spec: {ports: [{name: http, port: 80, targetPort: web}]}}

### one pod is left
delete pods/web-b {gracePeriodSeconds: 0}
delete pods/web-c {gracePeriodSeconds: 0}

### its port tells its protocol
patch services/web {spec: {ports: [{name: http, port: 8000, targetPort: web, appProtocol: http}]}}

### two protocols and numbers
patch services/web {spec: {ports: [{name: dns, port: 53, protocol: UDP}, {name: dns-tcp, port: 53}, {name: http, port: 80, targetPort: 8080}, {name: more, port: 90, targetPort: 9090}]}}
