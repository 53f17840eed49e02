# A headless service names pods by hostname; one without ports has addresses all the same.
Counts: vary
Show: endpoints, endpointslices, events

### pods with hostnames
create
  kind: Node
  metadata: {name: eh-n1, labels: {story: endpoints}}
create
  kind: Node
  metadata: {name: eh-n2, labels: {story: endpoints}}
create
  kind: Service
  metadata: {name: db}
  spec: {clusterIP: None, selector: {app: db}}
create
  kind: Pod
  metadata: {name: db-0, labels: {app: db}}
  spec:
    tolerations: [{operator: Exists}]
    nodeName: eh-n1
    hostname: db-0
    subdomain: db
    containers: [{name: main, image: "a:1"}]
create
  kind: Pod
  metadata: {name: db-1, labels: {app: db}}
  spec:
    tolerations: [{operator: Exists}]
    nodeName: eh-n1
    hostname: db-1
    subdomain: other
    containers: [{name: main, image: "a:1"}]
patch pods/db-0/status {status: {podIP: 10.1.2.4, podIPs: [{ip: 10.1.2.4}]}}
settle
patch pods/db-1/status {status: {podIP: 10.1.2.5, podIPs: [{ip: 10.1.2.5}]}}
settle
run db-0
start db-1

### shown whatever their state
create
  kind: Service
  metadata: {name: peers, annotations: {mine: "yes"}}
  spec:
    clusterIP: None
    publishNotReadyAddresses: true
    selector: {app: db}
    ports: [{name: peer, port: 7000, targetPort: 7001}]
settle
unready db-0

### one goes
delete pods/db-1
