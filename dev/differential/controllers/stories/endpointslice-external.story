# A service that becomes an external name loses its slices; one that has no selector never had any.
Counts: vary
Show: endpoints, endpointslices, events

### with pods
create
  kind: Node
  metadata: {name: ee-n1, labels: {story: endpoints}}
create
  kind: Node
  metadata: {name: ee-n2, labels: {story: endpoints}}
create
  kind: Service
  metadata: {name: web}
  spec: {selector: {app: web}, ports: [{port: 80}]}
create
  kind: Pod
  metadata: {name: web-a, labels: {app: web}}
  spec:
    tolerations: [{operator: Exists}]
    nodeName: ee-n1
    containers: [{name: main, image: "a:1"}]
patch pods/web-a/status {status: {podIP: 10.1.5.4, podIPs: [{ip: 10.1.5.4}]}}
settle
run

### an external name
patch services/web {spec: {type: ExternalName, externalName: example.com, selector: null, ports: null, clusterIP: null, clusterIPs: null, ipFamilies: null, ipFamilyPolicy: null, internalTrafficPolicy: null}}

### no selector
create
  kind: Service
  metadata: {name: bare}
  spec: {ports: [{port: 80}]}

### a slice by hand is left alone
create
  kind: EndpointSlice
  metadata: {name: mine, labels: {kubernetes.io/service-name: bare}}
  addressType: IPv4
  endpoints: [{addresses: [10.9.9.9]}]
  ports: [{port: 80}]
