# Endpoints know the zone of their node, and hints follow the service's wish.
Show: endpointslices, events

### two zones
create
  kind: Node
  metadata: {name: topology-a, labels: {topology.kubernetes.io/zone: a, story: topology}}
create
  kind: Node
  metadata: {name: topology-b, labels: {topology.kubernetes.io/zone: b, story: topology}}
create
  kind: Service
  metadata: {name: web}
  spec: {selector: {app: web}, ports: [{port: 80}]}
create
  kind: Pod
  metadata: {name: web-a, labels: {app: web}}
  spec:
    tolerations: [{operator: Exists}]
    nodeName: topology-a
    containers: [{name: main, image: "a:1"}]
create
  kind: Pod
  metadata: {name: web-b, labels: {app: web}}
  spec:
    tolerations: [{operator: Exists}]
    nodeName: topology-b
    containers: [{name: main, image: "a:1"}]
patch pods/web-a/status {status: {podIP: 10.1.4.4, podIPs: [{ip: 10.1.4.4}]}}
settle
patch pods/web-b/status {status: {podIP: 10.1.4.5, podIPs: [{ip: 10.1.4.5}]}}
settle
run

### same zone
patch services/web {spec: {trafficDistribution: PreferSameZone}}

### same node
patch services/web {spec: {trafficDistribution: PreferSameNode}}

### no wish
patch services/web {spec: {trafficDistribution: null}}
