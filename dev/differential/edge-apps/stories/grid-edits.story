# A template's changes reach every child, and changes of a child by hand are put back.
Show: deployments
Counts: vary
Quiet: 1500ms

### a grid over two values
create
  kind: Node
  metadata: {name: ge-1, labels: {ge: shanghai}}
create
  kind: Node
  metadata: {name: ge-2, labels: {ge: beijing}}
create
  kind: DeploymentGrid
  metadata: {name: web}
  spec:
    gridUniqKey: ge
    template:
      replicas: 1
      selector: {matchLabels: {app: web}}
      template:
        metadata: {labels: {app: web}}
        spec:
          containers: [{name: c, image: "nginx:1.25", resources: {requests: {cpu: 1000m}}}]
evolve

### another image for all
patch deploymentgrids/web {spec: {template: {template: {spec: {containers: [{name: c, image: "nginx:1.26"}]}}}}}
evolve

### more replicas for all
patch deploymentgrids/web {spec: {template: {replicas: 2}}}
evolve

### a child is scaled by hand
patch deployments/web-beijing {spec: {replicas: 5}}
evolve

### a child's image is changed by hand
patch deployments/web-beijing {spec: {template: {spec: {containers: [{name: c, image: "nginx:9"}]}}}}
evolve

### a variable is added to a child by hand
patch deployments/web-beijing {spec: {template: {spec: {containers: [{name: c, image: "nginx:1.26", env: [{name: A, value: b}]}]}}}}
evolve

### a child is deleted
delete deployments/web-beijing Background
evolve

### the grid is deleted
delete deploymentgrids/web Background
evolve
