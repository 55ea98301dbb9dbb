module leasehold.example/first-steps

go 1.21
