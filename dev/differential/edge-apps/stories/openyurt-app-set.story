# The workload of a YurtAppSet in one pool: edits by hand, changes of the template, a pool that is no longer chosen.
Show: deployments, controllerrevisions, yurtappsets
Counts: vary
Quiet: 3s

### an application for the pools with a label
create
  kind: NodePool
  metadata: {name: ys-pa, labels: {ys: "yes"}}
  spec: {type: Edge}
create
  kind: YurtAppSet
  metadata: {name: web, labels: {team: a}}
  spec:
    groupPolicy: {vanishedGraceSeconds: 0}
    nodepoolSelector: {matchLabels: {ys: "yes"}}
    workload:
      workloadTemplate:
        deploymentTemplate:
          metadata: {labels: {app: web}, annotations: {note: hello}}
          spec:
            replicas: 2
            selector: {matchLabels: {app: web}}
            template:
              metadata: {labels: {app: web}}
              spec:
                nodeSelector: {disk: ssd}
                containers: [{name: c, image: "nginx:1"}]

### the pods run
evolve

### the workload is scaled by hand
patch deployments/web-ys-pa-<1> {spec: {replicas: 3}}
evolve

### the image of the template changes
patch yurtappsets/web
  spec:
    workload:
      workloadTemplate:
        deploymentTemplate:
          spec:
            replicas: 2
            selector: {matchLabels: {app: web}}
            template:
              metadata: {labels: {app: web}}
              spec:
                nodeSelector: {disk: ssd}
                containers: [{name: c, image: "nginx:2"}]
evolve

### the pool loses the label
patch nodepools/ys-pa {metadata: {labels: {ys: null}}}

### the application goes
delete yurtappsets/web
