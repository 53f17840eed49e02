# A slice that somebody changes or deletes is put right.
Counts: vary
Quiet: 1500ms
Show: endpoints, endpointslices, events

### one pod
create
  kind: Node
  metadata: {name: ed-n1, labels: {story: endpoints}}
create
  kind: Node
  metadata: {name: ed-n2, labels: {story: endpoints}}
create
  kind: Service
  metadata: {name: web}
  spec: {selector: {app: web}, ports: [{port: 80}]}
create
  kind: Pod
  metadata: {name: web-a, labels: {app: web}}
  spec:
    tolerations: [{operator: Exists}]
    nodeName: ed-n1
    containers: [{name: main, image: "a:1"}]
patch pods/web-a/status {status: {podIP: 10.1.6.4, podIPs: [{ip: 10.1.6.4}]}}
settle
run

### the endpoints are edited
patch endpoints/web {subsets: [{addresses: [{ip: 10.9.9.9}]}]}

### they are deleted
delete endpoints/web

### the slice is edited
patch endpointslices/web-<1> {endpoints: [{addresses: [10.9.9.9]}]}

### it is deleted
delete endpointslices/web-<1>
