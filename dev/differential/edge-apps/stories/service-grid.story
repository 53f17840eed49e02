# One Service for all values of a label.
Show: services, servicegrids, events
Counts: vary
Quiet: 1500ms

### a service for a label
create
  kind: ServiceGrid
  metadata: {name: web, labels: {team: a}, annotations: {note: hello}}
  spec:
    gridUniqKey: sgz
    template:
      clusterIP: 10.43.9.9
      selector: {app: web}
      ports: [{port: 80, targetPort: 80}]

### another port
patch servicegrids/web {spec: {template: {ports: [{port: 81, targetPort: 80}]}}}

### the service is deleted
delete services/web-svc

### a port that is none
patch servicegrids/web {spec: {template: {ports: [{port: 99999, targetPort: 80}]}}}

### the grid is deleted
delete servicegrids/web Background
