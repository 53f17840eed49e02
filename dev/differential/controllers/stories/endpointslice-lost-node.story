# A pod on a node that nobody knows is left out of the slices until the node is there.
Show: endpoints, endpointslices, events
Counts: vary
Quiet: 1s

### the node is not there
create
  kind: Service
  metadata: {name: web}
  spec: {selector: {app: web}, ports: [{port: 80}]}
create
  kind: Pod
  metadata: {name: web-a, labels: {app: web}}
  spec: {nodeName: lost-n1, tolerations: [{operator: Exists}], containers: [{name: main, image: "a:1"}]}
patch pods/web-a/status {status: {podIP: 10.1.7.4, podIPs: [{ip: 10.1.7.4}]}}
run

### it is
create
  kind: Node
  metadata: {name: lost-n1, labels: {story: lost}}
patch services/web {metadata: {labels: {team: a}}}
settle
