// The health check of the image: exit code 0 if this gateway takes calls.
const { status } = await fetch(`http://127.0.0.1:${process.env.PORT || 8080}/readyz`);
process.exitCode = status === 200 ? 0 : 1;
