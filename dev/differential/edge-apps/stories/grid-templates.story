# A value may have a template of its own.
Show: deployments
Counts: vary
Quiet: 1500ms

### one value has the template of the pool
create
  kind: Node
  metadata: {name: gt-1, labels: {gt: shanghai}}
create
  kind: Node
  metadata: {name: gt-2, labels: {gt: beijing}}
create
  kind: DeploymentGrid
  metadata: {name: web}
  spec:
    gridUniqKey: gt
    templates: {beijing: canary}
    template:
      replicas: 2
      selector: {matchLabels: {app: web}}
      template:
        metadata: {labels: {app: web}}
        spec:
          containers: [{name: c, image: "nginx:1.25"}]
    templatePool:
      canary:
        replicas: 1
        selector: {matchLabels: {app: web}}
        template:
          metadata: {labels: {app: web}}
          spec:
            nodeSelector: {disk: ssd}
            containers: [{name: c, image: "nginx:canary"}]
evolve

### the pool's template changes
patch deploymentgrids/web {spec: {templatePool: {canary: {replicas: 3}}}}
evolve

### the value goes back to the default
patch deploymentgrids/web {spec: {templates: {beijing: default}}}
evolve
