a.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b
------------------------------------------------------------1
((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((1))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))
a+b+c+d+e+f+g+h+a+b+c+d+e+f+g+h+a+b+c+d+e+f+g+h+a+b+c+d+e+f+g+h+a+b+c+d+e+f+g+h+a+b+c+d+e+f+g+h+a+b+c+d+e+f+g+h+a+b+c+d+e+f+g+h+a+b+c+d+e+f+g+h+a+b+c+d+e+f+g+h
lambda:lambda:lambda:lambda:lambda:lambda:lambda:lambda:lambda:lambda:lambda:lambda:lambda:lambda:lambda:lambda:lambda:lambda:lambda:lambda:lambda:lambda:lambda:lambda:lambda:lambda:lambda:lambda:lambda:lambda:lambda:lambda:lambda:lambda:lambda:lambda:lambda:lambda:lambda:lambda:1
