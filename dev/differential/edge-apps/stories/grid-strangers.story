# Objects of others with the names of children.
Show: deployments
Counts: vary
Quiet: 1500ms

### a Deployment of somebody else has the name of a child
create
  kind: Node
  metadata: {name: gx-1, labels: {gx: taken}}
create
  kind: Node
  metadata: {name: gx-2, labels: {gx: free}}
create
  kind: Deployment
  metadata: {name: web-taken}
  spec:
    replicas: 1
    selector: {matchLabels: {app: web}}
    template:
      metadata: {labels: {app: web}}
      spec:
        containers: [{name: c, image: "other:1"}]
create
  kind: DeploymentGrid
  metadata: {name: web}
  spec:
    gridUniqKey: gx
    template:
      replicas: 1
      selector: {matchLabels: {app: web}}
      template:
        metadata: {labels: {app: web}}
        spec:
          containers: [{name: c, image: "nginx:1.25"}]

### it asks to belong to the grid
patch deployments/web-taken {metadata: {labels: {superedge.io/grid-selector: web}}}
